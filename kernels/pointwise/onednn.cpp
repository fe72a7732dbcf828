// The peer: the logistic function of oneDNN. Its two forms of GELU are left out: in the left tail their
// errors are 47 and 8 times the bounds of the contracts.

#include "onednn.hpp"

#include "assay/ops/pointwise.hpp"

namespace assay::pointwise {
namespace {

using Op = Pointwise<Sigmoid>;

auto plan_of(const Op::Problem& p, const Op::Input*, int threads, int) {
  const auto plan = std::make_shared<onednn::Plan>(threads);
  const onednn::Shape shape = onednn::described({p.size()}, onednn::Tag::a);
  plan->set_primitive(plan->describe<dnnl::eltwise_forward>(dnnl::prop_kind::forward_training,
                                                            dnnl::algorithm::eltwise_logistic,
                                                            ASSAY_ONEDNN_BOTH(shape), 0.0f, 0.0f));
  plan->add(DNNL_ARG_SRC, shape);
  plan->add(DNNL_ARG_DST, shape);
  return plan;
}

const Register registered{[](Registry& r) {
  onednn::add_peer<Op>(r, {.summary = "element-wise primitive of oneDNN"}, plan_of,
                       [](const onednn::Plan& plan, const Op::Input& in, Op::Output& out) {
                         plan.run({in.in[0].data(), out.first.data()});
                       });
}};

}  // namespace
}  // namespace assay::pointwise
