"""What tests must know of a build with AddressSanitizer, which reserves much more memory than it uses, and keeps what was freed."""
import os

import pytest

HAS_ADDRESS_SANITIZER = "ASAN_OPTIONS" in os.environ

with_own_memory = pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="AddressSanitizer has the memory")
