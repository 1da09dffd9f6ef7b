"""The rule book: every rule in one table.

A rule is a small function in the module of its part, a row here, an entry in `entries/` with a bad
and a good example, and a test. A code never changes its meaning.
"""

from __future__ import annotations

from arena.packages.rules import collection, document, environment, files, oracle, verifier
from arena.packages.rules.rule import Fault, Rule

RULES: tuple[Rule, ...] = (
    Rule("TP001", "error", files.required_files),
    Rule("TP002", "error", document.front_matter_parses),
    Rule("TP003", "error", document.keys_are_right),
    Rule("TP004", "error", document.there_is_a_prompt),
    Rule("TP005", "error", environment.from_comes_first),
    Rule("TP006", "error", environment.copied_files_exist),
    Rule("TP007", "error", files.plain_files, collection.no_links),
    Rule("TP008", "error", files.sizes_are_kept),
    Rule("TP009", "error", None, collection.package_count),
    Rule("TP010", "error", files.name_is_slug, collection.names_differ),
    Rule("TP011", "error", verifier.description_is_right),
    Rule("TP012", "error", verifier.reward_can_change),
    Rule("TP013", "error", files.text_is_utf8),
    Rule("TP014", "error", None, collection.packages_are_licensed),
    Rule("TP015", "warning", document.top_level_keys_are_known),
    Rule("TP016", "warning", document.metadata_has_no_email),
    Rule("TP017", "warning", document.origin_is_given),
    Rule("TP018", "warning", document.licence_is_given),
    Rule("TP019", "error", document.licence_is_spdx, collection.licence_is_spdx),
    Rule("TP020", "error", document.licence_allows_release, collection.licence_allows_release),
    Rule("TP021", "error", document.template_is_filled_in),
    Rule("TP022", "error", environment.answers_stay_out),
    Rule("TP023", "warning", environment.base_image_is_pinned),
    Rule("TP024", "warning", environment.dependencies_are_pinned),
    Rule("TP025", "warning", environment.resources_are_given),
    Rule("TP026", "error", environment.dockerfile_reads),
    Rule("TP027", "warning", verifier.verifier_needs_no_network),
    Rule("TP028", "error", verifier.tests_assert_something),
    Rule("TP029", "warning", files.no_secrets),
    Rule("TP030", "error", files.no_lfs_pointers),
    Rule("TP031", "error", files.scripts_have_unix_line_ends),
    Rule("TP032", "error", verifier.shell_is_valid),
    Rule("TP033", "error", verifier.python_is_valid),
    Rule("TP034", "error", verifier.named_files_exist),
    Rule("TP035", "warning", document.prompt_hides_the_answer),
    Rule("TP036", "warning", oracle.oracle_needs_no_network),
    Rule("TP037", "error", None, collection.contents_differ),
    Rule("TP038", "error", None, collection.tasks_are_packages),
    Rule("TP039", "error", None, collection.settings_are_right),
    Rule("TP040", "warning", environment.nothing_is_ignored),
    Rule("TP041", "warning", verifier.agents_programs_run_as_others),
    Rule("TP042", "warning", verifier.python_imports_its_own),
)

__all__ = ["RULES", "Fault", "Rule"]
