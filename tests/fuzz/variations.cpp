// Gives the targets of libFuzzer's inputs and random variations of them without libFuzzer, so that a build
// needs neither Clang nor its sanitizers: crashes, endless loops and wrong answers are found, what is read
// beside memory is not.
//
//     fuzz_variations TARGET FOLDER SECONDS SEED FINDING
//
// An input that a target does not survive is written to the file FINDING.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define HDTRACE_TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
HDTRACE_FUZZ_TARGETS
#undef HDTRACE_TARGET

namespace {

constexpr std::size_t largest_input = 65536;
constexpr unsigned seconds_for_an_input = 10;
constexpr int most_changes = 4;

using Target = int (*)(const std::uint8_t* data, std::size_t size);

#define HDTRACE_TARGET(name) {#name, fuzz_##name},
const std::map<std::string, Target> targets = {HDTRACE_FUZZ_TARGETS};
#undef HDTRACE_TARGET

/// In a process of its own, so that what is found fails by itself, too.
bool survives(Target target, const std::string& input)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(seconds_for_an_input);
        target(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
        std::exit(0); // which removes folders
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0;
}

std::vector<std::string> read_inputs(const std::string& folder)
{
    std::vector<std::string> inputs;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path(), std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return inputs;
}

class Variations {
  public:
    Variations(std::vector<std::string> inputs, unsigned seed) : m_inputs(std::move(inputs)), m_random(seed)
    {
    }

    std::string next()
    {
        std::string text = any_input();
        for (int changes = 1 + static_cast<int>(below(most_changes)); changes > 0; --changes)
            change(text);
        text.resize(std::min(text.size(), largest_input));
        return text;
    }

  private:
    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : m_random() % limit; }
    const std::string& any_input() { return m_inputs[below(m_inputs.size())]; }
    // Short pieces mostly.
    std::string piece_of(const std::string& text)
    {
        return text.substr(below(text.size()), below(below(2) == 0 ? 16 : text.size()));
    }

    void change(std::string& text)
    {
        const std::size_t place = below(text.size() + 1);
        switch (below(6)) {
        case 0:
            if (place < text.size())
                text[place] = static_cast<char>(m_random());
            break;
        case 1:
            if (place < text.size())
                text[place] = static_cast<char>(text[place] ^ 1 << below(8));
            break;
        case 2:
            text.erase(place, piece_of(text).size());
            break;
        case 3:
            text.insert(place, piece_of(text));
            break;
        case 4:
            text.insert(place, piece_of(any_input()));
            break;
        default:
            text.resize(place);
        }
    }

    std::vector<std::string> m_inputs;
    std::mt19937 m_random;
};

} // namespace

int main(int argc, char** argv)
{
    const auto target = argc == 6 ? targets.find(argv[1]) : targets.end();
    if (target == targets.end()) {
        std::cerr << "usage: fuzz_variations TARGET FOLDER SECONDS SEED FINDING\n";
        return 2;
    }
    const std::vector<std::string> inputs = read_inputs(argv[2]);
    Variations variations(inputs, static_cast<unsigned>(std::atoi(argv[4])));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[3]));
    std::size_t count = 0;
    while (count < inputs.size() || (!inputs.empty() && std::chrono::steady_clock::now() < end)) {
        const std::string input = count < inputs.size() ? inputs[count] : variations.next();
        ++count;
        if (!survives(target->second, input)) {
            std::ofstream(argv[5], std::ios::binary) << input;
            return 1;
        }
    }
    std::cout << "number_of_executed_units: " << count << '\n';
}
