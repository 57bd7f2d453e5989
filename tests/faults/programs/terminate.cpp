// An exception that nobody catches.
#include "prelude.h"

#include <stdexcept>

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    throw std::runtime_error("nobody catches this");
}
