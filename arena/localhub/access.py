"""Who may see, read and change a repository. Every rule is here, and pure."""

from arena.localhub.accounts import Identity, org_role
from arena.localhub.metadata import RepoMeta


def belongs(caller: Identity | None, repo: RepoMeta) -> bool:
    """Whether the repository is the caller's own, or their organization's."""
    if caller is None or not caller.sees_private:
        return False
    return caller.user == repo.owner or org_role(caller.user, repo.owner) is not None


def may_see(caller: Identity | None, repo: RepoMeta) -> bool:
    return not repo.private or belongs(caller, repo)


def may_read_files(caller: Identity | None, repo: RepoMeta) -> bool:
    return may_see(caller, repo) and (not repo.gated or belongs(caller, repo))


def has_write_rights(user: str, repo: RepoMeta) -> bool:
    """What the account may do; whether the token at hand may write is a second question."""
    role = org_role(user, repo.owner)
    if role == "contributor":
        return repo.creator == user
    return user == repo.owner or role in ("admin", "write")


def may_create_in(user: str, namespace: str) -> bool:
    return user == namespace or org_role(user, namespace) in ("admin", "write", "contributor")
