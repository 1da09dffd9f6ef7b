"""Stand-ins for base images, for a private engine that can pull none.

They are made from Debian's own packages and take the names that Dockerfiles use. That shadows the
real images, so they belong in the arena's private engine only, and each is labelled as what it is.
"""

from local.baseimages.archive import STAND_IN_LABEL, BaseImageError
from local.baseimages.busybox import BUSYBOX
from local.baseimages.python import PYTHON
from local.baseimages.stand_ins import DEFAULT_CACHE, ensure_base_images

__all__ = [
    "BUSYBOX",
    "DEFAULT_CACHE",
    "PYTHON",
    "STAND_IN_LABEL",
    "BaseImageError",
    "ensure_base_images",
]
