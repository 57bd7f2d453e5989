// The part of hdRegion.h that the tracer shares with programs.
#pragma once

#define HD_TYPES_ONLY
#include "hdtrace/include/hdRegion.h"
