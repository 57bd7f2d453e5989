#include <hdVT.h>

int enter(int state)
{
    return VT_begin(state);
}
