#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

const char* const kHistory =
    "s1: { w(x,1) w(7,2) }\n"
    "s2: { r(x,1) r(\"7\",null) } { r(\"a\\\"b\\n\",null) }\n";

CertificateFile one_of_each(const History& h) {
  const KeyId x = key(h, "x");
  Edge odd = anti(1, 0, 0, kNone);
  for (KeyId k = 0; k < h.key_count(); ++k)
    if (h.key(k).to_string() == "a\"b\n") odd.key = k;
  return {
      h.content_hash(),
      {single_order("read-committed session-si", {0, 1, 2}),
       split_order("prefix", {0, 2, 1, 3, 4, 5}), bad_read("causal", Anomaly::aborted_read, 2, 0),
       bad_read("causal", Anomaly::thin_air_read, 2, kNone),
       proof("strict-serializable",
             {cycle({read_from(0, 1, x, 2), read_from(0, 1, x), session(1, 2), odd,
                     real_time(0, true, 1, false), real_time(1, false, 0, true),
                     write_order(0, 1, 1), anti(1, 0, x, 0, 2),
                     forced(0, 1, x, 2, 4, {session(0, 2), read_from(0, 1, x, 2)})}),
              fact({0, 1}, 3, false), fact({1, 0}, 4, true), derived({{0, 1}, {2, 1}}, {0, 1}),
              derived({}, {}),
              cycle_given({session(1, 2)},
                          {Literal::seen(1, x, 0), Literal::seen(1, x, 0, 2), Literal::effect(2)}),
              sources(2, x,
                      {Literal::seen(1, x, 0), Literal::seen(1, x, kNone), !Literal::effect(1)}),
              effect({!Literal::seen(1, x, 0), Literal::effect(0)})})}};
}

TEST(CertificateFile, RoundTrip) {
  const History h = hist(kHistory);
  const std::string text = write_certificates(one_of_each(h), h);
  const auto back = read_certificates(text, h, "c.json");
  ASSERT_TRUE(back.ok()) << back.error().to_string() << text;
  EXPECT_EQ(write_certificates(*back, h), text);
  const std::vector<ProofStep>& steps = back->certificates[4].proof.steps;
  const std::vector<Edge>& edges = steps[0].cycle;
  EXPECT_EQ(edges[0].op, 2u);
  EXPECT_EQ(edges[1].op, kNone);
  EXPECT_EQ(h.key(edges[3].key).text, "a\"b\n");
  EXPECT_EQ(edges[3].via, kNone);
  EXPECT_TRUE(edges[4].from_write);
  EXPECT_FALSE(edges[4].to_write);
  EXPECT_FALSE(edges[5].from_write);
  EXPECT_TRUE(edges[5].to_write);
  EXPECT_EQ(h.key(edges[6].key).integer, 7);  // not the string "7"
  EXPECT_EQ(edges[7].via, 0u);
  EXPECT_EQ(edges[8].via, 2u);
  ASSERT_EQ(edges[8].path.size(), 2u);
  EXPECT_EQ(edges[8].path[1].kind, EdgeKind::read_dependency);
  EXPECT_FALSE(steps[1].source_is_op);
  EXPECT_TRUE(steps[2].source_is_op);
  EXPECT_EQ(steps[3].clause[1].from, 2u);
  const std::vector<ProofStep> written = one_of_each(h).certificates[4].proof.steps;
  for (size_t i = 5; i < 8; ++i) {
    EXPECT_EQ(steps[i].kind, written[i].kind);
    EXPECT_EQ(steps[i].given, written[i].given);
    EXPECT_EQ(steps[i].clause, written[i].clause);
    EXPECT_EQ(steps[i].source, written[i].source);
    EXPECT_EQ(steps[i].key, written[i].key);
  }
}

// Earlier versions called the dependencies otherwise.
TEST(CertificateFile, OldNamesOfEdgesAreRead) {
  const History h = hist(kHistory);
  const std::string text = write_certificates(one_of_each(h), h);
  std::string old = text;
  for (const auto& [name, old_name] :
       {std::pair<std::string, std::string>{"read-dependency", "read-from"},
        {"write-dependency", "write-order"},
        {"anti-dependency", "anti"}}) {
    ASSERT_NE(old.find(name), std::string::npos);
    for (size_t at; (at = old.find(name)) != std::string::npos;)
      old.replace(at, name.size(), old_name);
  }
  const auto back = read_certificates(old, h, "c.json");
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_EQ(write_certificates(*back, h), text);
}

TEST(CertificateFile, RoundTripOfSources) {
  const History h = hist(kHistory);
  const KeyId x = key(h, "x");
  Certificate order = single_order("causal", {0, 1, 2});
  order.order.sources = {{2, x, 0}, {3, 1, kNone}};
  const CertificateFile file{h.content_hash(), {order}};
  const std::string text = write_certificates(file, h);
  const auto back = read_certificates(text, h, "c.json");
  ASSERT_TRUE(back.ok()) << back.error().to_string() << text;
  EXPECT_EQ(write_certificates(*back, h), text);
  EXPECT_EQ(back->certificates[0].order.sources, order.order.sources);
}

class CertificateFileErrors : public ::testing::Test {
 protected:
  const History h_ = hist(kHistory);

  std::string error(const std::string& text) const {
    const auto file = read_certificates(text, h_, "c.json");
    return file.ok() ? "accepted" : file.error().to_string();
  }
  std::string file(const std::string& certificates) const {
    return R"({"assay_certificate":1,"history":")" + h_.content_hash() + "\",\n\"certificates\":[" +
           certificates + "]}";
  }
  std::string order(const std::string& fields) const {
    return error(file(R"({"levels":["causal"],"outcome":"satisfied",)" + fields + "}"));
  }
  std::string step(const std::string& fields) const {
    return error(file(R"({"levels":["causal"],"outcome":"violated","proof":[{)" + fields + "}]}"));
  }
  std::string edge(const std::string& fields) const {
    return step(R"("cycle":[{)" + fields + "}]");
  }
};

TEST_F(CertificateFileErrors, AnotherHistory) {
  EXPECT_EQ(error(file("")), "accepted");
  const std::string other = R"({"assay_certificate":1,"history":"00","certificates":[]})";
  EXPECT_NE(error(other).find("another history"), std::string::npos) << error(other);
  EXPECT_NE(error(other).find(h_.content_hash()), std::string::npos);
}

TEST_F(CertificateFileErrors, CarryTheirPosition) {
  EXPECT_EQ(error("{"), "c.json:1:2: expected a string");
  EXPECT_EQ(error("[]"), "c.json:1:1: expected '{'");
  EXPECT_EQ(error(""), "c.json:1:1: expected '{'");
  EXPECT_EQ(error(file("\n 3")), "c.json:3:2: expected '{'");
  EXPECT_EQ(error(file("") + "x"), "c.json:2:19: expected the end of the text");
  EXPECT_EQ(error(R"({"assay_certificate":2})"),
            "c.json:1:23: expected version 1 of the certificate format");
  EXPECT_EQ(error(R"({"assay_certificate":1})"),
            "c.json:1:24: a certificate file needs assay_certificate, history and certificates");
}

TEST_F(CertificateFileErrors, Fields) {
  EXPECT_EQ(order(R"("order":{"split":true,"events":[ 0 , 1 ]})"), "accepted");
  const char* const wrong[] = {
      R"("order":{"split":1,"events":[]})",
      R"("order":{"split":true})",
      R"("order":{"split":true,"events":[01]})",
      R"("order":{"split":true,"events":[-1]})",
      R"("order":{"split":true,"events":[1.0]})",
      R"("order":{"split":true,"events":[1e3]})",
      R"("order":{"split":true,"events":[4294967295]})",
      R"("order":{"split":true,"events":[99999999999999999999]})",
      R"("order":{"split":true,"events":["1"]})",
      R"("order":{"split":true,"events":[1,]})",
      R"("order":{"split":true,"events":[1 2]})",
      R"("order":{"split":true,"events":[]},"order":{"split":true,"events":[]})",
      R"("order":{"split":true,"events":[],"more":1})",
      R"("order":{"split":true,"events":[]},"proof":[])",
      R"("proof":[])",
      R"("levels":["causal"],"order":{"split":true,"events":[]})",
      R"("order":{"split":true,"events":[],"sources":[{"op":0,"key":7}]})",
      R"("order":{"split":true,"events":[],"sources":[{"op":0,"key":9,"source":0}]})",
      R"("cases":[])",
  };
  for (const char* fields : wrong) EXPECT_NE(order(fields), "accepted") << fields;
  EXPECT_NE(
      error(file(R"({"levels":["cc"],"outcome":"satisfied","order":{"split":true,"events":[]}})")),
      "accepted");
  EXPECT_NE(error(file(R"({"levels":["causal","causal"],"outcome":"violated","proof":[]})")),
            "accepted");
  EXPECT_NE(error(file(R"({"levels":["causal"],"outcome":"violated"})")), "accepted");
  EXPECT_NE(error(file(R"({"levels":["causal"],"outcome":"violated","cases":[]})")).find("again"),
            std::string::npos);
  EXPECT_NE(error(file(R"({"levels":["causal"],"proof":[]})")), "accepted");
  EXPECT_NE(error(file(R"({"levels":["causal"],"outcome":"unknown","proof":[]})")), "accepted");
}

TEST_F(CertificateFileErrors, BadReads) {
  auto read = [&](const std::string& fields) {
    return error(file(R"({"levels":["causal"],"outcome":"violated","bad_read":{)" + fields + "}}"));
  };
  EXPECT_EQ(read(R"("anomaly":"aborted-read","read":1,"other":null)"), "accepted");
  EXPECT_NE(read(R"("anomaly":"aborted-read","read":1)"), "accepted");
  EXPECT_NE(read(R"("anomaly":"aborted-read","read":null,"other":1)"), "accepted");
  EXPECT_NE(read(R"("anomaly":"bad","read":1,"other":1)"), "accepted");
}

TEST_F(CertificateFileErrors, Steps) {
  EXPECT_EQ(step(R"("cycle":[])"), "accepted");
  EXPECT_EQ(step(R"("fact":[[0,1]],"known_order":0)"), "accepted");
  EXPECT_EQ(step(R"("hints":[],"derived":[])"), "accepted");
  const char* const wrong[] = {
      "",
      R"("fact":[[0,1]])",
      R"("known_order":1)",
      R"("fact":[[0,1]],"known_order":0,"list_read":0)",
      R"("derived":[])",
      R"("derived":[[0]],"hints":[])",
      R"("derived":[[0,1,2]],"hints":[])",
      R"("derived":[0],"hints":[])",
      R"("cycle":[],"hints":[])",
  };
  for (const char* fields : wrong) EXPECT_NE(step(fields), "accepted") << fields;
}

TEST_F(CertificateFileErrors, Edges) {
  EXPECT_EQ(edge(R"("kind":"session","from":0,"to":1)"), "accepted");
  EXPECT_EQ(edge(R"("kind":"read-from","from":0,"to":1,"key":"x")"), "accepted");
  EXPECT_EQ(edge(R"("kind":"read-from","from":0,"to":1,"key":"\u0078","op":1)"), "accepted");
  EXPECT_EQ(edge(R"("kind":"write-order","from":0,"to":1,"key":7)"), "accepted");
  const char* const wrong[] = {
      R"("kind":"session","from":0)",
      R"("kind":"session","from":0,"to":1,"key":"x")",
      R"("kind":"session","from":0,"to":1,"path":[])",
      R"("kind":"sessions","from":0,"to":1)",
      R"("kind":"read-from","from":0,"to":1)",
      R"("kind":"read-from","from":0,"to":1,"key":"y")",
      R"("kind":"read-from","from":0,"to":1,"key":null)",
      R"("kind":"read-from","from":0,"to":1,"key":8)",
      R"("kind":"read-from","from":null,"to":1,"key":7)",
      R"("kind":"anti","from":0,"to":1,"key":"x")",
      R"("kind":"anti","from":0,"to":1,"key":"x","reader":1)",
      R"("kind":"forced","from":0,"to":1,"key":"x","reader":1)",
      R"("kind":"forced","from":0,"to":1,"key":"x","via":1,"path":[])",
      R"("kind":"real-time","from":0,"to":1,"leaves":"begin")",
      R"("kind":"real-time","from":0,"to":1,"leaves":"begin","enters":"end")",
  };
  for (const char* fields : wrong) EXPECT_NE(edge(fields), "accepted") << fields;
  const std::string forced = R"("kind":"forced","from":0,"to":1,"key":"x","reader":1,"path":)";
  EXPECT_EQ(edge(forced + R"([{"kind":"session","from":0,"to":1}])"), "accepted");
  EXPECT_NE(edge(forced + R"([{"kind":"session","from":0,"to":1,"path":[]}])"), "accepted");
}

TEST_F(CertificateFileErrors, Strings) {
  auto key_text = [&](const std::string& text) {
    return edge(R"("kind":"read-from","from":0,"to":1,"key":)" + text);
  };
  EXPECT_EQ(key_text(R"("a\"b\n")"), "accepted");
  EXPECT_EQ(key_text(R"("a\u0022b\u000A")"), "accepted");
  for (const char* text : {R"("\ud83d")", R"("\ud83d\u0041")", R"("\udc00")", R"("\u12")",
                           R"("\q")", "\"a\nb\"", R"("x)", R"("\)", R"("\u)"})
    EXPECT_NE(key_text(text).find("c.json:"), std::string::npos) << text;
  // Characters beyond the first plane, as escapes and as they are.
  const History emoji = hist("s1: { w(\"\xF0\x9F\x98\x80\",1) }\n");
  const std::string head =
      R"({"assay_certificate":1,"history":")" + emoji.content_hash() +
      R"(","certificates":[{"levels":["causal"],"outcome":"violated","proof":[{"cycle":[)"
      R"({"kind":"write-order","from":0,"to":1,"key":)";
  EXPECT_TRUE(read_certificates(head + R"("\ud83d\ude00"}]}]}]})", emoji, "c").ok());
  EXPECT_TRUE(read_certificates(head + "\"\xF0\x9F\x98\x80\"}]}]}]}", emoji, "c").ok());
}

TEST_F(CertificateFileErrors, HostileInput) {
  EXPECT_NE(error(std::string(1 << 20, '[')), "accepted");
  std::string deep = R"("kind":"forced","from":0,"to":1,"key":"x","reader":1,"path":[)";
  for (int i = 0; i < 100'000; ++i) deep += R"({"path":[)";
  EXPECT_NE(edge(deep), "accepted");
  std::string many;
  for (int i = 0; i < 300; ++i)
    many +=
        std::string(i > 0 ? "," : "") + R"({"levels":["causal"],"outcome":"violated","proof":[]})";
  EXPECT_NE(error(file(many)).find("too many"), std::string::npos);
  const std::string good = file(R"({"levels":["causal"],"outcome":"violated","proof":[]})");
  for (size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_NE(error(good.substr(0, cut)), "accepted") << cut;
}

}  // namespace
}  // namespace assay::internal::certify
