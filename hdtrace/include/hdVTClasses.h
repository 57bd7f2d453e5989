/* hdVTClasses.h - the part of hdVT.h for C++, which hdVT.h includes. */
#ifndef HDVTCLASSES_H
#define HDVTCLASSES_H

#include "hdVT.h"

#ifdef __cplusplus

/** A name that is defined when it is first used. */
class VT_FuncDef {
  public:
    VT_FuncDef(const char* symname, const char* classname) : m_name(symname), m_class(classname), m_handle(0)
    {
    }
    int GetHandle()
    {
        int classhandle = VT_NOCLASS;
        if (m_handle == 0 && VT_classdef(m_class, &classhandle) == VT_OK)
            VT_funcdef(m_name, classhandle, &m_handle);
        return m_handle;
    }

  private:
    const char* m_name;
    const char* m_class;
    int m_handle;
};

/** The same of a place in the sources. */
class VT_SclDef {
  public:
    VT_SclDef(const char* file, int line) : m_file(file), m_line(line), m_handle(0) {}
    int GetHandle()
    {
        if (m_handle == 0)
            VT_scldef(m_file, m_line, &m_handle);
        return m_handle;
    }

  private:
    const char* m_file;
    int m_line;
    int m_handle;
};
#define VT_SCL_DEF_CXX(sclvar) static VT_SclDef sclvar(__FILE__, __LINE__)

/** A region from begin() to end(), at the latest to the end of its block. */
class VT_Region {
  public:
    VT_Region() : m_state(0) {}
    VT_Region(const char* symname, const char* classname) : m_state(0) { begin(symname, classname); }
    VT_Region(const char* symname, const char* classname, const char* file, int line) : m_state(0)
    {
        begin(symname, classname, file, line);
    }
    explicit VT_Region(VT_FuncDef& funcdef) : m_state(0) { begin(funcdef); }
    VT_Region(VT_FuncDef& funcdef, VT_SclDef& scldef) : m_state(0) { begin(funcdef, scldef); }
    ~VT_Region() { end(); }

    void begin(const char* symname, const char* classname)
    {
        enter(VT_FuncDef(symname, classname).GetHandle(), VT_NOSCL);
    }
    void begin(const char* symname, const char* classname, const char* file, int line)
    {
        enter(VT_FuncDef(symname, classname).GetHandle(), VT_SclDef(file, line).GetHandle());
    }
    void begin(VT_FuncDef& funcdef) { enter(funcdef.GetHandle(), VT_NOSCL); }
    void begin(VT_FuncDef& funcdef, VT_SclDef& scldef) { enter(funcdef.GetHandle(), scldef.GetHandle()); }
    void end()
    {
        if (m_state > 0)
            hdR_end(hdV_region(m_state, hdV_state));
        m_state = 0;
    }
    void end(const char* file, int line)
    {
        hdV_atPlace(VT_SclDef(file, line).GetHandle());
        end();
    }
    void end(VT_SclDef& scldef)
    {
        hdV_atPlace(scldef.GetHandle());
        end();
    }

  private:
    VT_Region(const VT_Region&);
    VT_Region& operator=(const VT_Region&);

    void enter(int state, int place)
    {
        end();
        if (VT_beginl(state, place) == VT_OK)
            m_state = state;
    }

    int m_state;
};

/** The same for the function that has it. */
class VT_Function : public VT_Region {
  public:
    VT_Function(const char* symname, const char* classname) : VT_Region(symname, classname) {}
    VT_Function(const char* symname, const char* classname, const char* file, int line)
        : VT_Region(symname, classname, file, line)
    {
    }
    explicit VT_Function(VT_FuncDef& funcdef) : VT_Region(funcdef) {}
    VT_Function(VT_FuncDef& funcdef, VT_SclDef& scldef) : VT_Region(funcdef, scldef) {}
};

#endif
#endif
