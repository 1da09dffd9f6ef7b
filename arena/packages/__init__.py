"""The task package: one verifiable RL task as a folder, checked as text, never executed."""

from arena.packages.check import PackageError, PackageReport, check_package, load_package
from arena.packages.collection import (
    Collection,
    CollectionReport,
    check_collection,
    collection_digest,
    load_packages,
    submission_settings,
)
from arena.packages.findings import Finding, Severity
from arena.packages.layout import package_folders
from arena.packages.package import TaskPackage
from arena.packages.reading import ResourceCaps
from arena.packages.schema import Domain

__all__ = [
    "Collection",
    "CollectionReport",
    "Domain",
    "Finding",
    "PackageError",
    "PackageReport",
    "ResourceCaps",
    "Severity",
    "TaskPackage",
    "check_collection",
    "check_package",
    "collection_digest",
    "load_package",
    "load_packages",
    "package_folders",
    "submission_settings",
]
