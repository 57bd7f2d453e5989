/* Handles are good in all files of a program. */
#include <hdVT.h>

int vt_in_another_file(int state)
{
    return VT_begin(state) == VT_OK ? VT_end(state) : VT_ERR_BADREQUEST;
}
