#include "cli/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string_view>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/suggestion.h"

namespace assay::internal::cli {
namespace {

constexpr std::string_view kKeysOf = "Keys of ", kForm = ", as in VALUE:KEY=VALUE,KEY";

std::vector<const CLI::Option*> keys(const CLI::App& command, const std::string& flag) {
  return command.get_options([&](const CLI::Option* o) { return o->get_group() == keys_of(flag); });
}

// Returns "--keys=5" for "keys=5".
std::string as_option(const std::string& flag, const std::vector<const CLI::Option*>& known,
                      const std::string& text) {
  const size_t equals = std::min(text.find('='), text.size());
  const std::string name = text.substr(0, equals);
  std::vector<std::string> names;
  for (const CLI::Option* option : known) {
    names.push_back(key_name(*option));
    if (names.back() == name) return option->get_name() + text.substr(equals);
  }
  bad_flag(flag, fmt::format("unknown key '{}'{}; expected one of {}", name,
                             did_you_mean(name, names), fmt::join(names, ", ")));
}

struct Spelled {
  std::string value;
  std::vector<std::string> options;  // "--keys=5", "--tombstones"
};

Spelled split(const std::string& flag, const std::vector<const CLI::Option*>& known,
              const std::string& text) {
  Spelled spelled;
  const size_t colon = text.find(':');
  spelled.value = text.substr(0, colon);
  for (size_t at = colon; at < text.size();) {
    const size_t end = std::min(text.find(',', at + 1), text.size());
    spelled.options.push_back(as_option(flag, known, text.substr(at + 1, end - at - 1)));
    at = end;
  }
  return spelled;
}

// Flags of earlier versions that are keys now are still understood; this tells the user the new
// spelling.
void note_former_flag(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const CLI::Option* option = command.get_option_no_throw(name);
  if (option == nullptr || flag_of_key(*option).empty()) return;
  const std::string flag = flag_of_key(*option);
  note(fmt::format("{} is a key of {} now: {} {}:{}{}", name, flag, flag,
                   command.get_option(flag)->get_type_name(), key_name(*option),
                   option->get_items_expected_max() > 0 ? "=…" : ""));
}

class ConfigWithKeys : public CLI::ConfigTOML {
 public:
  explicit ConfigWithKeys(const CLI::App& all) : all_(all) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> spelled_items;
    for (CLI::ConfigItem& item : CLI::ConfigTOML::from_config(input)) {
      const bool of_command = item.parents.size() == 1 && is_command(item.parents[0]);
      const CLI::App* command = of_command ? all_.get_subcommand(item.parents[0]) : nullptr;
      const std::string flag = "--" + item.name;
      const auto known = command != nullptr ? keys(*command, flag) : decltype(keys(all_, flag)){};
      std::vector<CLI::ConfigItem> of_keys;
      if (!known.empty() && item.inputs.size() == 1) {
        const Spelled spelled = split(flag, known, item.inputs[0]);
        item.inputs[0] = spelled.value;
        for (const std::string& option : spelled.options) {
          const size_t equals = std::min(option.find('='), option.size());
          CLI::ConfigItem& key = of_keys.emplace_back(item);
          key.name = option.substr(2, equals - 2);
          key.inputs = {equals < option.size() ? option.substr(equals + 1) : "true"};
        }
      }
      if (of_keys.empty() || !item.inputs[0].empty()) spelled_items.push_back(std::move(item));
      std::ranges::move(of_keys, std::back_inserter(spelled_items));
    }
    return spelled_items;
  }

 private:
  const CLI::App& all_;
};

}  // namespace

std::string keys_of(const std::string& flag) {
  return std::string(kKeysOf) + flag + std::string(kForm);
}

std::string flag_of_key(const CLI::Option& option) {
  const std::string& group = option.get_group();
  if (!group.starts_with(kKeysOf) || !group.ends_with(kForm)) return "";
  return group.substr(kKeysOf.size(), group.size() - kKeysOf.size() - kForm.size());
}

std::string key_name(const CLI::Option& option) {
  const std::string name = option.get_name(), flag = flag_of_key(option) + "-";
  return name.starts_with(flag) ? name.substr(flag.size()) : name.substr(2);
}

std::vector<std::string> spelled_out(const CLI::App& command,
                                     const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {  // the rest belongs to another program
      out.insert(out.end(), words.begin() + static_cast<ptrdiff_t>(i), words.end());
      break;
    }
    note_former_flag(command, word);
    const size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    const auto known = keys(command, flag);
    const bool in_word = equals != std::string::npos;
    if (known.empty() || (!in_word && i + 1 == words.size())) {
      out.push_back(word);
      continue;
    }
    const Spelled spelled = split(flag, known, in_word ? word.substr(equals + 1) : words[++i]);
    if (!spelled.value.empty() || spelled.options.empty())
      out.insert(out.end(), {flag, spelled.value});
    out.insert(out.end(), spelled.options.begin(), spelled.options.end());
  }
  return out;
}

std::shared_ptr<CLI::Config> config_with_keys(const CLI::App& all) {
  return std::make_shared<ConfigWithKeys>(all);
}

GivenFlags put_together(const CLI::App& command, const GivenFlags& given) {
  std::map<std::string, std::string> behind;  // by flag: ":keys=5,tombstones"
  GivenFlags out;
  for (const auto& [name, value] : given) {
    const CLI::Option* option = command.get_option_no_throw(name);
    const std::string flag = option != nullptr ? flag_of_key(*option) : "";
    if (flag.empty()) {
      out.emplace_back(name, value);
      continue;
    }
    std::string& text = behind[flag];
    text += (text.empty() ? ":" : ",") + key_name(*option) + (value.empty() ? "" : "=" + value);
  }
  for (const auto& [flag, text] : behind) {
    auto at = std::ranges::find(out, flag, &GivenFlags::value_type::first);
    if (at == out.end()) at = out.insert(at, {flag, ""});
    at->second += text;
  }
  return out;
}

}  // namespace assay::internal::cli
