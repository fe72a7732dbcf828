// The free bytes of an endless pool. Finds the lowest gap of a size in O(log n).
//
// A treap (Seidel and Aragon 1996) ordered by offset. Every node holds the largest gap in its subtree. Nodes
// live in one array that is allocated beforehand.
#pragma once

#include "assay/problem.hpp"
#include "assay/random.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace assay::memory_pool {

class Gaps {
 public:
  /// For at most `blocks` blocks at a time: there is one more gap than blocks, and one extra node while two
  /// gaps are joined.
  explicit Gaps(Index blocks) : nodes_(static_cast<std::size_t>(blocks) + 3) {
    Rng rng(1);
    for (Node& node : nodes_) node.priority = rng.next();
  }

  void reset() {
    free_ = 1;  // node 0 is the empty tree, whose largest gap is 0
    for (Link i = 1; i < nodes_.size(); ++i) nodes_[i].right = i + 1;
    root_ = made(0, endless);
  }

  /// Takes the lowest `bytes` > 0 free bytes and returns their offset.
  Index take(Index bytes) { return take(root_, bytes); }

  void release(Index offset, Index bytes) {
    auto [below, above] = split(root_, offset);
    if (below != none) {
      const Node& last = nodes_[outermost<&Node::right>(below)];
      if (last.offset + last.bytes == offset) {
        offset = last.offset;
        bytes += last.bytes;
        below = without_outermost<&Node::right>(below);
      }
    }
    // The endless gap is above every block.
    const Node& first = nodes_[outermost<&Node::left>(above)];
    if (first.offset == offset + bytes) {
      bytes = first.bytes == endless ? endless : bytes + first.bytes;
      above = without_outermost<&Node::left>(above);
    }
    root_ = merge(merge(below, made(offset, bytes)), above);
  }

 private:
  using Link = std::uint32_t;
  static constexpr Link none = 0;
  static constexpr Index endless = std::numeric_limits<Index>::max();

  struct Node {
    Index offset = 0, bytes = 0, largest = 0;
    std::uint64_t priority = 0;
    Link left = none, right = none;
  };

  Link made(Index offset, Index bytes) {
    const Link i = free_;
    Node& node = nodes_[i];
    free_ = node.right;
    node = {.offset = offset, .bytes = bytes, .largest = bytes, .priority = node.priority};
    return i;
  }

  /// Returns the subtree without its root, whose node becomes free.
  Link removed(Link i) {
    const Link rest = merge(nodes_[i].left, nodes_[i].right);
    nodes_[i].right = std::exchange(free_, i);
    return rest;
  }

  Link updated(Link i) {
    Node& node = nodes_[i];
    node.largest = std::max({node.bytes, nodes_[node.left].largest, nodes_[node.right].largest});
    return i;
  }

  Index take(Link& i, Index bytes) {
    Node& node = nodes_[i];
    Index offset = node.offset;
    if (nodes_[node.left].largest >= bytes) {
      offset = take(node.left, bytes);
    } else if (node.bytes < bytes) {
      offset = take(node.right, bytes);
    } else if (node.bytes == bytes) {
      i = removed(i);
      return offset;
    } else {
      node.offset += bytes;
      if (node.bytes != endless) node.bytes -= bytes;
    }
    updated(i);
    return offset;
  }

  /// Splits a tree into the gaps below `offset` and the rest.
  std::pair<Link, Link> split(Link i, Index offset) {
    if (i == none) return {none, none};
    Node& node = nodes_[i];
    if (node.offset < offset) {
      const auto [below, above] = split(node.right, offset);
      node.right = below;
      return {updated(i), above};
    }
    const auto [below, above] = split(node.left, offset);
    node.left = above;
    return {below, updated(i)};
  }

  /// Joins two trees; all of `low` is below all of `high`.
  Link merge(Link low, Link high) {
    if (low == none || high == none) return low + high;
    if (nodes_[low].priority > nodes_[high].priority) {
      nodes_[low].right = merge(nodes_[low].right, high);
      return updated(low);
    }
    nodes_[high].left = merge(low, nodes_[high].left);
    return updated(high);
  }

  template <Link Node::*side>
  Link outermost(Link i) const {
    while (nodes_[i].*side != none) i = nodes_[i].*side;
    return i;
  }
  template <Link Node::*side>
  Link without_outermost(Link i) {
    if (nodes_[i].*side == none) return removed(i);
    nodes_[i].*side = without_outermost<side>(nodes_[i].*side);
    return updated(i);
  }

  std::vector<Node> nodes_;
  Link root_ = none, free_ = none;
};

}  // namespace assay::memory_pool
