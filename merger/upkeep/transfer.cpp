#include "merger/upkeep/transfer.h"

#include "hdtrace/format/errors.h"
#include "hdtrace/tools/file_error.h"
#include "merger/trace_name.h"

#include <libxml/parser.h>
#include <libxml/tree.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace hdtrace::merger {

namespace fs = std::filesystem;

namespace {

using NewBases = std::map<std::string, std::string>; ///< by the prefixes that the files have now

/// A name that is not used yet; behind others comes a number, as behind those of traces.
std::string unused(const std::string& base, const std::set<std::string>& used)
{
    std::string name = base;
    for (int number = 2; used.contains(name); ++number)
        name = base + "-" + std::to_string(number);
    return name;
}

/// What names of the traces begin with at their destination, where all are in one folder.
NewBases new_bases(const ProjectFiles& files, const std::string& old_name, const std::string& new_name)
{
    NewBases bases;
    std::set<std::string> used;
    for (const std::string& prefix : files.prefixes) {
        std::string base = prefix.substr(directory_of(prefix).size());
        if (!new_name.empty())
            base = files.prefixes.size() == 1 || base == old_name ? new_name : new_name + "-" + base;
        bases[prefix] = *used.insert(unused(base, used)).first;
    }
    return bases;
}

struct FreeDocument {
    void operator()(xmlDoc* document) const { xmlFreeDoc(document); }
};

const xmlChar* as_xml(const char* text)
{
    return reinterpret_cast<const xmlChar*>(text);
}

template <class Handle> void for_each_element(xmlNode* around, const char* name, Handle handle)
{
    for (xmlNode* node = around ? around->children : nullptr; node; node = node->next) {
        if (node->type == XML_ELEMENT_NODE && xmlStrEqual(node->name, as_xml(name)))
            handle(node);
    }
}

std::string attribute(xmlNode* element, const char* name)
{
    xmlChar* const value = xmlGetProp(element, as_xml(name));
    const std::string text = value ? reinterpret_cast<const char*>(value) : "";
    xmlFree(value);
    return text;
}

void lead_to(xmlNode* files, const std::string& folder, const NewBases& bases)
{
    const fs::path now = fs::path(folder) / attribute(files, "directory") / attribute(files, "base");
    const auto found = bases.find(now.lexically_normal().string());
    if (found == bases.end()) // it has no traces
        return;
    xmlSetProp(files, as_xml("base"), as_xml(found->second.c_str()));
    xmlUnsetProp(files, as_xml("directory"));
}

/// A project that says where its traces are, with their new places.
std::string with_new_places(const std::string& path, const std::string& folder, const NewBases& bases)
{
    const std::unique_ptr<xmlDoc, FreeDocument> document(xmlReadFile(
        path.c_str(), nullptr, XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOERROR | XML_PARSE_NOWARNING));
    if (!document)
        throw UpkeepError(path + ": this cannot be read again");
    for_each_element(xmlDocGetRootElement(document.get()), "WorldList", [&](xmlNode* list) {
        const auto lead = [&](xmlNode* files) { lead_to(files, folder, bases); };
        for_each_element(list, "Files", lead);
        for_each_element(list, "World", [&](xmlNode* world) { for_each_element(world, "Files", lead); });
    });
    xmlChar* text = nullptr;
    int size = 0;
    xmlDocDumpMemoryEnc(document.get(), &text, &size, "UTF-8");
    const std::string result(reinterpret_cast<const char*>(text), text ? size : 0);
    xmlFree(text);
    if (result.empty())
        throw std::bad_alloc();
    return result;
}

using Copy = void (NewFiles::*)(const std::string& from, const std::string& to);

void make_copies(const Project& project, const ProjectFiles& files, const Destination& to, Copy copy,
                 const ByteProgress& progress)
{
    const std::string old_name = fs::path(project.path).stem().string();
    const NewBases bases = new_bases(files, old_name, to.name);
    const auto place_of = [&](const NamedFile& file) {
        const std::string own = to.name.empty() ? old_name : to.name;
        return to.folder + (file.is_project() ? own : bases.at(file.prefix()) + file.labels) + file.ending;
    };
    for (const NamedFile& file : files.files) {
        std::error_code ignored;
        if (const std::string place = place_of(file); fs::exists(fs::symlink_status(place, ignored)))
            throw tools::FileError(place, EEXIST);
    }
    NewFiles made(progress);
    if (to.is_new)
        made.make_folder(to.folder);
    for (const NamedFile& file : files.files) {
        if (file.is_project() && !project.trace_files.empty())
            made.write(with_new_places(file.path(), files.directory, bases), file.path(), place_of(file));
        else
            (made.*copy)(file.path(), place_of(file));
    }
    made.keep(to.folder);
}

bool is_directory(const std::string& path)
{
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

std::string with_slash(const std::string& directory)
{
    return directory.ends_with('/') ? directory : directory + "/";
}

/// The last part of a directory's name, however it is spelled.
std::string name_of(const std::string& directory)
{
    return fs::canonical(directory).filename().string();
}

void refuse_if_nothing_is_there(const Project& project, const ProjectFiles& files)
{
    if (files.files.empty())
        throw OpenError(project.path, ENOENT);
}

} // namespace

Destination destination_of(const std::string& source, const std::string& destination)
{
    if (destination.ends_with(project_extension)) {
        const std::string folder(directory_of(destination));
        const std::string name =
            destination.substr(folder.size(), destination.size() - folder.size() - project_extension.size());
        if (name.empty())
            throw UpkeepError(destination + ": a project needs a name");
        return {folder, false, name};
    }
    if (!is_directory(destination))
        return {with_slash(destination), true, ""};
    if (is_directory(source))
        return {with_slash(with_slash(destination) + name_of(source)), true, ""};
    return {with_slash(destination), false, ""};
}

void copy_project(const Project& project, const ProjectFiles& files, const Destination& to,
                  const ByteProgress& progress)
{
    refuse_if_nothing_is_there(project, files);
    make_copies(project, files, to, &NewFiles::copy, progress);
}

void move_project(const Project& project, const ProjectFiles& files, const Destination& to,
                  const ByteProgress& progress)
{
    refuse_if_nothing_is_there(project, files);
    if (!files.shared.empty()) {
        const auto& [file, other] = *files.shared.begin();
        throw UpkeepError(file + ": " + other + " leads to this, too: 'hdtrace cp' makes a copy of it");
    }
    make_copies(project, files, to, &NewFiles::link_or_copy, progress);
    remove_files(files);
}

void remove_files(const ProjectFiles& files)
{
    for (const NamedFile& file : files.files) {
        const std::string path = file.path();
        if (!files.shared.contains(path) && unlink(path.c_str()) != 0 && errno != ENOENT)
            throw tools::FileError(path, errno);
    }
    std::vector<std::string> directories = files.elsewhere();
    directories.push_back(files.directory);
    for (const std::string& directory : directories) {
        std::error_code ignored;
        if (!directory.empty() && !fs::equivalent(directory, ".", ignored))
            rmdir(directory.c_str()); // fails where anything else is in it
    }
}

} // namespace hdtrace::merger
