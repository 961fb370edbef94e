#include "cli/command.h"

#include <algorithm>
#include <array>
#include <vector>

#include "cli/suggestion.h"

namespace assay::internal::cli {
namespace {

constexpr size_t kFirstScreen = 14;

constexpr std::array kCommands = {
    Command{"check", "decide which isolation levels a history satisfies",
            "  assay check run.jsonl                        the strongest levels, and why no "
            "stronger\n  assay check run.jsonl --level session-si     exit code 0 satisfied, 1 "
            "violated, 2 unknown\n  assay check *.jsonl --json --time 60s        one line of JSON "
            "per file\n  assay check run.jsonl --report run.html --certificate run.cert.json\nWith "
            "several files the worst exit code counts, in the order 4, 1, 3, 2, 0.\n",
            add_check},
    Command{"run", "drive a database, record its history, check it",
            "  assay run                                    embedded SQLite, 10,000 transactions\n"
            "  assay run --sessions 4 --txns 500 --workload general:keys=50  more conflicts\n"
            "  assay run --database sqlite:app.db --isolation deferred --history run.jsonl\n"
            "  assay run --database URL --until-violation --time 10m --level serializable\n"
            "  assay run --list                             workloads, databases, isolations\n",
            add_run},
    Command{"record", "record an unmodified application, between it and its PostgreSQL database",
            "  assay record --database postgresql://app@127.0.0.1/shop --history shop.jsonl\n  "
            "psql 'host=127.0.0.1 port=6432 dbname=shop user=app'       the application, "
            "unchanged\n  assay check shop.jsonl                                     after "
            "Ctrl-C\nThe server needs wal_level = logical. See docs/is-my-application-safe.md.\n",
            add_record},
    Command{"play", "play an interleaving of SQL on a database and check the outcome",
            "  assay play examples/play/lost-update.sql\n"
            "  assay play write-skew.spec --database postgresql://postgres@127.0.0.1/postgres\n"
            "  assay play report.md --permutations all --level serializable\n",
            add_play},
    Command{"watch", "check an endless history while it is being written",
            "  assay watch app.jsonl --follow --alarms alarms    exit code 0, 1 alarm, 2 unknown\n"
            "  my-recorder | assay watch --sessions 20 --json --fail-fast\n",
            add_watch},
    Command{"predict", "predict what the same transactions could do at a weaker isolation",
            "  assay predict run.jsonl\n"
            "  assay predict run.jsonl --at read-committed --output predicted\n",
            add_predict},
    Command{"probe", "find which anomalies each isolation level of a database allows",
            "  assay probe postgresql://postgres@127.0.0.1/postgres\n"
            "  assay probe mysql://root@127.0.0.1/test --isolation 'repeatable read' --expect si\n",
            add_probe},
    Command{"shrink", "reduce a history to the smallest part that still violates a level",
            "  assay shrink run.jsonl --level session-si\n"
            "  assay shrink run.jsonl --level serializable --output small.hist\n",
            add_shrink},
    Command{"verify", "re-check a certificate against its history",
            "  assay check run.jsonl --certificate run.cert.json\n"
            "  assay verify run.cert.json run.jsonl\n",
            add_verify},
    Command{"explain", "explain a violation from its certificate, without deciding again",
            "  assay check run.jsonl --certificate run.cert.json\n"
            "  assay explain run.cert.json run.jsonl\n",
            add_explain},
    Command{"convert", "convert between history formats",
            "  assay convert run.jsonl run.hist\n"
            "  assay convert run.jsonl run.jsonl.zst\n"
            "  assay convert - --to hist < run.jsonl\n",
            add_convert},
    Command{"generate", "generate histories with a simulated database of a chosen level",
            "  assay generate --level snapshot-isolation --bug lost-update | assay check -\n"
            "  assay generate --level ser --sessions 20 --workload general:keys=5000 > h.jsonl\n",
            add_generate},
    Command{"levels", "list the isolation levels, with their aliases and what they imply",
            "  assay levels\n  assay levels --json\n", add_levels},
    Command{"doctor",
            "show which databases can be driven from here, and the limits of this machine",
            "  assay doctor\n", add_doctor},
    // The commands from here on are shown only by assay --help-all.
    Command{"recover", "complete the history of a killed run from the database's log",
            "  assay recover run.jsonl --database sqlite:app.db\n", add_recover},
    Command{
        "exec-test", "test whether a program follows the protocol of 'exec:'",
        "  assay exec-test 'python3 examples/drivers/sqlite.py app.db'\n  assay exec-test "
        "'exec+unix:/tmp/store.sock ./store /tmp/store.sock' --json\nIt empties the program's "
        "tables. Exit code 0: every promise is kept; 1: one is broken; 3: no answer to hello.\n",
        add_exec_test},
    Command{"sql", "print the query that decides a level for a history in a table",
            "  assay sql --level strict-serializable | duckdb lake.db\n"
            "  assay sql --level strong-si --dialect spark --part residue:margin=1000000\n",
            add_sql},
    Command{
        "residue", "decide what the query of 'assay sql' did not accept",
        "  assay residue residue.csv --level strong-si --placed placed.csv\n"
        "  assay residue residue.csv --level strong-si --history h.jsonl --certificate c.json\n",
        add_residue},
    Command{"stats", "show what a history contains",
            "  assay stats run.jsonl\n  assay stats run.jsonl --json\n", add_stats},
    Command{"tally", "check the totals of a bank or the bounds of a counter (Jepsen's workloads)",
            "  assay tally bank.edn\n  assay tally counter.edn --json\n", add_tally},
    Command{"demo", "show each anomaly in a small history, with verdicts and explanation",
            "  assay demo\n  assay demo lost-update\n  assay demo --all\n", add_demo},
    Command{"selftest", "compare the checker with brute force on random histories",
            "  assay selftest\n  assay selftest --count 100000 --seed 7\n", add_selftest},
    Command{"version", "print the version of this program", "  assay version\n", add_version},
    Command{"completion", "print the script that completes assay's command lines in a shell",
            "  assay completion bash > /usr/share/bash-completion/completions/assay\n"
            "  assay completion zsh > _assay\n  assay completion fish > assay.fish\n",
            add_completion},
    Command{"manual", "print the manual page", "  assay manual > assay.1; man ./assay.1\n",
            add_manual},
    Command{"help", "show the flags of a command", "  assay help check\n", add_help},
};

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

std::span<const Command> commands_beyond_first_screen() {
  return all_commands().subspan(kFirstScreen);
}

bool is_command(std::string_view name) {
  return std::ranges::find(kCommands, name, &Command::name) != kCommands.end();
}

std::string no_command(std::string_view name) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return "unknown command '" + std::string(name) + "'" + did_you_mean(name, names);
}

}  // namespace assay::internal::cli
