#include "coordinator/configs.h"

#include <fstream>

#include <gtest/gtest.h>

#include "coordinator/config_layers.h"
#include "sys/files.h"

namespace sp::coordinator {
namespace {

codec::Node tree(std::string_view text) {
  auto root = codec::parse_document(text);
  EXPECT_TRUE(root) << root.error().message;
  return *root;
}

Configs configs(std::string_view text, bool names_only = false) {
  ConfigsReading read = read_configs(tree(text), "configs", names_only);
  EXPECT_TRUE(read.faults.empty()) << read.faults.front().text();
  return read.configs;
}

constexpr const char* kBoth = R"({"workers":{"w1":"http://a:8088/","w0":"http://b:8088"},
  "drivers":{"k1":{"driverType":"kafka","driverConfigs":{"acks":"all","retries":3,"idem":true,"sasl.password":"x"},
                   "metadata":{"a":[1,null,"2"]}}},
  "report":{"maxTimeSeriesPoints":"481"}})";

TEST(Configs, AreReadWithTheirOrderAndTheKindsOfTheirValues) {
  const Configs read = configs(kBoth);
  ASSERT_EQ(read.workers.size(), 2U);
  EXPECT_EQ(read.workers[0], (NamedWorker{"w1", "http://a:8088"}));
  EXPECT_EQ(read.workers[1].name, "w0");
  ASSERT_NE(read.driver("k1"), nullptr);
  EXPECT_EQ(read.driver("k1")->type, "kafka");
  const std::vector<JsonMember> settings = {{"acks", "\"all\""}, {"retries", "3"}, {"idem", "true"}, {"sasl.password", "\"x\""}};
  EXPECT_EQ(read.driver("k1")->settings, settings);
  EXPECT_EQ(read.driver("k1")->metadata, R"({"a":[1,null,"2"]})");
  EXPECT_EQ(read.report->front(), (JsonMember{"maxTimeSeriesPoints", "\"481\""}));
}

TEST(Configs, ReadBackFromTheirJson) {
  const Configs read = configs(kBoth);
  EXPECT_EQ(configs(configs_json(read, {.secrets = true})), read);
}

TEST(Configs, SecretsAreHiddenUnlessAskedFor) {
  const Configs read = configs(kBoth);
  EXPECT_NE(configs_json(read).find(R"x("sasl.password":"(hidden)")x"), std::string::npos) << configs_json(read);
  EXPECT_NE(configs_json(read, {.secrets = true}).find(R"("sasl.password":"x")"), std::string::npos);
}

TEST(Configs, AllThatIsWrongIsToldAtOnce) {
  const ConfigsReading read = read_configs(tree(R"({"workers":{"w":"ftp://x","v":7},"drivers":{"k":{"driverConfigs":{}},"l":3,
    "m":{"driverType":"kafka","type":1}},"more":1})"),
                                           "configs");
  std::vector<std::string> messages;
  for (const auto& fault : read.faults) messages.push_back(fault.message);
  EXPECT_EQ(messages, (std::vector<std::string>{"worker 'w' has no URL", "worker 'v' has no URL", "driver 'k' has no driverType",
                                                "driver 'l' is a map", "unknown field 'type' of driver 'm'", "unknown field 'more'"}));
}

TEST(Configs, MergeReplacesByNameAndEraseTakesNamesAway) {
  Configs all = configs(R"({"workers":{"a":"http://1","b":"http://2"},"drivers":{},"report":{"x":1}})");
  all.merge(configs(R"({"workers":{"b":"http://3","c":"http://4"},"report":{"x":2,"y":3}})"));
  EXPECT_EQ(all.workers, (std::vector<NamedWorker>{{"a", "http://1"}, {"b", "http://3"}, {"c", "http://4"}}));
  EXPECT_EQ(*all.report, (std::vector<JsonMember>{{"x", "2"}, {"y", "3"}}));
  all.erase(configs(R"({"workers":{"a":"whatever","zz":null},"report":{"x":0}})", true));
  EXPECT_EQ(all.workers, (std::vector<NamedWorker>{{"b", "http://3"}, {"c", "http://4"}}));
  EXPECT_EQ(*all.report, (std::vector<JsonMember>{{"y", "3"}}));
}

TEST(ConfigLayers, NothingWasEverConfigured) { EXPECT_FALSE(ConfigLayers().together()); }

TEST(ConfigLayers, AFileThatChangesForgetsNothingThatWasTold) {
  ConfigLayers layers;
  layers.set_folder(configs(R"({"workers":{"a":"http://file","f":"http://file"}})"));
  layers.put(configs(R"({"workers":{"a":"http://told","t":"http://told"}})"));
  layers.set_folder(configs(R"({"workers":{"g":"http://file2","a":"http://file2"}})"));
  EXPECT_EQ(layers.together()->workers, (std::vector<NamedWorker>{{"g", "http://file2"}, {"a", "http://told"}, {"t", "http://told"}}));
}

TEST(ConfigLayers, WhatWasTakenAwayStaysAwayUntilItIsPutAgain) {
  ConfigLayers layers;
  layers.set_folder(configs(R"({"workers":{"a":"http://file"}})"));
  layers.take_away(configs(R"({"workers":{"a":""}})", true));
  EXPECT_TRUE(layers.together()->workers.empty());
  layers.set_folder(configs(R"({"workers":{"a":"http://file2"}})"));
  EXPECT_TRUE(layers.together()->workers.empty());
  layers.put(configs(R"({"workers":{"a":"http://told"}})"));
  EXPECT_EQ(layers.together()->workers.front().url, "http://told");
}

TEST(ConfigLayers, WhatWasToldSurvives) {
  ConfigLayers layers;
  layers.set_folder(configs(R"({"workers":{"a":"http://file","b":"http://file"}})"));
  layers.put(configs(kBoth));
  layers.take_away(configs(R"({"workers":{"a":""}})", true));
  ConfigLayers again;
  ASSERT_TRUE(again.read_told(layers.told_json()));
  again.set_folder(configs(R"({"workers":{"a":"http://file","b":"http://file"}})"));
  EXPECT_EQ(*again.together(), *layers.together());
  EXPECT_FALSE(again.read_told("{}"));
}

TEST(ConfigFolder, ItsFilesAreMergedByNameAndABadOneDoesNotHideTheOthers) {
  const auto folder = *sys::TemporaryFolder::make();
  std::ofstream(folder.path() / "b.yaml") << "workers:\n  w: http://b\ndrivers:\n  d: {driverType: kafka, driverConfigs: {x: 1}}\n";
  std::ofstream(folder.path() / "a.yaml") << "workers:\n  w: http://a\n  v: http://a\n";
  std::ofstream(folder.path() / "c.yaml") << "workers: [";
  std::ofstream(folder.path() / "d.txt") << "workers: {}";
  const FolderReading read = read_config_folder(folder.path());
  EXPECT_EQ(read.configs.workers, (std::vector<NamedWorker>{{"w", "http://b"}, {"v", "http://a"}}));
  EXPECT_EQ(read.configs.driver("d")->settings, (std::vector<JsonMember>{{"x", "1"}}));
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_NE(read.problems[0].find("c.yaml"), std::string::npos);
}

TEST(ConfigFolder, ItsMarkChangesWithItsFiles) {
  const auto folder = *sys::TemporaryFolder::make();
  const std::string empty = config_folder_mark(folder.path());
  std::ofstream(folder.path() / "a.yaml") << "workers: {}";
  const std::string one = config_folder_mark(folder.path());
  EXPECT_NE(one, empty);
  std::ofstream(folder.path() / "a.yaml") << "workers: {a: http://b}";
  EXPECT_NE(config_folder_mark(folder.path()), one);
  EXPECT_EQ(config_folder_mark(folder.path() / "absent"), "");
}

}  // namespace
}  // namespace sp::coordinator
