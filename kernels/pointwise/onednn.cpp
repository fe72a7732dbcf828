// The peer: the logistic function of oneDNN. Its two forms of GELU are left out: in the left tail their
// errors are 47 and 8 times the bounds of the contracts.

#include "onednn.hpp"

#include "assay/ops/pointwise.hpp"
#include "assay/registry.hpp"

namespace assay::pointwise {
namespace {

using Op = Pointwise<Sigmoid>;

std::shared_ptr<onednn::Plan> onednn_plan(const Op::Problem& p, int threads) {
  auto plan = std::make_shared<onednn::Plan>(threads);
  const dnnl_memory_desc_t shape = onednn::described({p.size()}, dnnl_a);
  dnnl_eltwise_desc_t forward;
  onednn::demand(
      dnnl_eltwise_forward_desc_init(&forward, dnnl_forward_training, dnnl_eltwise_logistic, &shape, 0, 0));
  plan->set_primitive(plan->describe(forward));
  plan->add(DNNL_ARG_SRC, shape);
  plan->add(DNNL_ARG_DST, shape);
  return plan;
}

const Register registered{[](Registry& r) {
  r.add<Op>({.name = "onednn",
             .summary = "element-wise primitive of oneDNN",
             .libraries = {"onednn"},
             .threaded = true,
             .prepare =
                 [](const Op::Problem& p, const Op::Input&, const Context& context) {
                   return [plan = onednn_plan(p, context.threads)](const Op::Input& in, Op::Output& out) {
                     plan->run({in.in[0].data(), out.first.data()});
                   };
                 },
             .unfit = [](const Op::Problem& p, const Context& context) -> std::optional<std::string> {
               if (Op::value_words[static_cast<std::size_t>(p.values)] == "special")
                 return "changes the bits of NaN";
               return onednn::refusal([&] { onednn_plan(p, context.threads); });
             }});
}};

}  // namespace
}  // namespace assay::pointwise
