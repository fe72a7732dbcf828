/// A function together with its captures. It is std::function as far as variants need it, for a third of the
/// time that compiling <functional> takes.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace assay::detail {

template <class Signature>
class Callable;

/// Empty, or a lambda or function pointer. Copies share the captures.
template <class Result, class... Arguments>
class Callable<Result(Arguments...)> {
 public:
  Callable(std::nullptr_t = nullptr) {}
  template <class F>
    requires(!std::is_same_v<F, Callable> && std::is_invocable_r_v<Result, F&, Arguments...>)
  Callable(F function)
      : captures_(
            static_cast<void*>(new F(std::move(function))),
            +[](void* captures) { delete static_cast<F*>(captures); }),
        call_([](void* captures, Arguments... arguments) -> Result {
          return (*static_cast<F*>(captures))(std::forward<Arguments>(arguments)...);
        }) {}

  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const {
    return call_(captures_.get(), std::forward<Arguments>(arguments)...);
  }

 private:
  std::shared_ptr<void> captures_;
  Result (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace assay::detail
