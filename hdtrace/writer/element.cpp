#include "hdtrace/writer/element.h"

namespace hdtrace {

void Element::end_children(const char* element_name)
{
    room(child_room);
    text("</").raw(element_name, strlen(element_name)).text(">");
}

} // namespace hdtrace
