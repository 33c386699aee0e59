// Texts as small numbers: the first one is 0, the next new one 1, and so on. For processes, keys and whatever else comes
// again and again.
//
//     add("k3") ─► 0     add("k7") ─► 1     add("k3") ─► 0     text(1) == "k7"
//
// Shape:    texts never move; a number means the same text for ever.
// Cost:     10 ns for a text that is there, if its place is near; 80 bytes and its text for a new one.
// Limits:   names_max texts of kNameBytesMax bytes together; then add() says nullopt. Texts chosen to
//           collide cost O(log n), not O(n).
// Errors:   none.   Threads: one owner adds; others may call text() with numbers that were handed to them.
// Source:   docs/formats/history.md, "Limits".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sp::history {

constexpr std::size_t kNameBytesMax = std::size_t{1} << 29U;

class Names {
 public:
  explicit Names(std::size_t names_max = std::size_t{1} << 24U);
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;

  // The number of `text`, made if it is new; nullopt when a limit is reached.
  [[nodiscard]] std::optional<std::uint32_t> add(std::string_view text) { return add_sought(seek(text)); }
  // The same in two steps, for whoever has something to do while memory is brought near. `text` must live until the second.
  struct Sought {
    std::string_view text;
    std::uint32_t hash = 0;
  };
  [[nodiscard]] Sought seek(std::string_view text) const;
  [[nodiscard]] std::optional<std::uint32_t> add_sought(const Sought& sought);
  // Lives as long as this.
  [[nodiscard]] std::string_view text(std::uint32_t number) const;
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t names_max() const { return names_max_; }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  static constexpr std::size_t kShortMax = 23;
  static constexpr std::uint8_t kLong = 0xFF;
  // A place of the table: one access of memory for a name that is not long.
  struct alignas(32) Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = kFree;
    std::uint8_t length = 0;      // kLong: look at the text itself
    char text[kShortMax] = {};
  };
  static constexpr std::size_t kProbesMax = 32;
  static constexpr std::size_t kFirstChunk = 1024;

  std::optional<std::uint32_t> append(std::string_view text, std::uint32_t hash);
  const char* store(std::string_view text);
  [[nodiscard]] bool holds(const Slot& slot, std::string_view text) const;
  void insert(const Slot& slot);
  void grow();

  std::size_t names_max_;
  std::size_t size_ = 0;
  std::vector<Slot> slots_;
  std::map<std::string_view, std::uint32_t> crowded_;  // what found no slot within kProbesMax
  // Chunk n holds kFirstChunk << n texts, so that no text ever moves.
  std::array<std::unique_ptr<const char*[]>, 32> chunks_;
  std::vector<std::unique_ptr<char[]>> bytes_;
  std::size_t bytes_used_ = 0;
  std::size_t bytes_left_ = 0;
  char* bytes_at_ = nullptr;
};

}  // namespace sp::history
