// Descriptors of oneDNN's benchdnn, which load_suite() takes for cases of gemm and conv2d.

#include "assay/error.hpp"
#include "assay/suite.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace assay::descriptors_test {
namespace {

using ::testing::HasSubstr;

std::string case_of(const std::string& descriptor) {
  const Suite suite = load_suite(descriptor, Registry::linked());
  return suite.cases.at(0).operation + "/" + suite.cases.at(0).problem;
}

std::string complaint(const std::string& descriptor) {
  try {
    return "none: " + case_of(descriptor);
  } catch (const Error& failure) {
    return failure.what();
  }
}

TEST(Descriptors, OfMatmulAreProducts) {
  EXPECT_EQ(case_of("matmul/512x256:256x1024"), "gemm/m=512,n=1024,k=256");
  EXPECT_EQ(case_of("matmul/512x256:256x1024:512x1024n\"BERT\""), "gemm/m=512,n=1024,k=256");
  EXPECT_EQ(case_of("matmul/8x5x6:8x6x7"), "batched_gemm/batch=8,m=5,n=7,k=6");
  EXPECT_THAT(complaint("matmul/512x256"), HasSubstr("has no two tensors"));
  EXPECT_THAT(complaint("matmul/512x256:255x1024"), HasSubstr("do not fit each other"));
  EXPECT_THAT(complaint("matmul/512x256:256x1024:512x1023"), HasSubstr("is not their product"));
  EXPECT_EQ(case_of("matmul/12x384x384:12x384x64_n\"encoder:WV\""), "batched_gemm/batch=12,m=384,n=64,k=384");
  EXPECT_EQ(case_of("matmul/2x3x5x6:2x3x6x7"), "batched_gemm/batch=6,m=5,n=7,k=6")
      << "leading ones are a batch";
  EXPECT_EQ(case_of("matmul/8x5x6:1x6x7:8x5x7"), "gemm/m=40,n=7,k=6") << "one B for all";
  EXPECT_EQ(case_of("matmul/2x3x5x6:1x1x6x7"), "gemm/m=30,n=7,k=6");
  EXPECT_THAT(complaint("matmul/1x5x6:8x6x7"),
              HasSubstr("one side is the same for all or some of the batch"));
  EXPECT_THAT(complaint("matmul/2x1x5x6:2x3x6x7"),
              HasSubstr("one side is the same for all or some of the batch"));
  EXPECT_THAT(complaint("matmul/2x5x6:3x6x7"), HasSubstr("do not fit each other"));
  EXPECT_THAT(complaint("matmul/2147483648x2147483648x2147483648x5x6:1x1x1x6x7"), HasSubstr("do not fit"));
  EXPECT_THAT(complaint("matmul/6:6x7"), HasSubstr("two or more dimensions"));
}

TEST(Descriptors, OfConvolutionsAreConvolutions) {
  EXPECT_EQ(case_of("conv/mb1ic64ih56oc64oh56kh3ph1"), "conv2d/n=1,c=64,f=64,h=56,w=56,kernel=3,pad=1");
  EXPECT_EQ(case_of("conv/ic3ih224oc64kh7sh2ph3n\"resnet:conv1\""),
            "conv2d/n=2,c=3,f=64,h=224,w=224,kernel=7,stride=2,pad=3")
      << "of two images, as benchdnn has it";
  EXPECT_EQ(case_of("conv/mb1_ic8ih10iw12oc4kh3kw1ph1pw0"),
            "conv2d/n=1,c=8,f=4,h=10,w=12,kernel=3,kernel_w=1,pad=1,"
            "left=0,right=0");
  EXPECT_EQ(case_of("conv/mb1ic8ih10oc4oh10kh3dh1ph2"),
            "conv2d/n=1,c=8,f=4,h=10,w=10,kernel=3,dilation=2,pad=2");
  EXPECT_EQ(case_of("conv/mb1ic8id1ih10oc4od1oh10kd1kh3ph1pd0_n\"flat\""),
            "conv2d/n=1,c=8,f=4,h=10,w=10,kernel=3,pad=1")
      << "a depth of one";
  EXPECT_EQ(case_of("conv/mb1ic8ih56oc4oh28kh3sh2ph1"),
            "conv2d/n=1,c=8,f=4,h=56,w=56,kernel=3,stride=2,pad=1,bottom=0,right=0");
  EXPECT_EQ(case_of("conv/g32mb1ic64ih56oc128kh3ph1"),
            "conv2d/n=1,c=64,f=128,h=56,w=56,kernel=3,pad=1,groups=32");
}

TEST(Descriptors, OfConvolutionsAreRefusedForWhatIsNotThere) {
  EXPECT_THAT(complaint("conv/mb1ic64ih56oc64"), HasSubstr("has no 'kh'"));
  EXPECT_THAT(complaint("conv/mb1ic64ih56oc64kh3zz1"), HasSubstr("'zz' is no letter of a convolution"));
  EXPECT_THAT(complaint("conv/mb1ic64ih56ocx64kh3"), HasSubstr("'ocx'"));
  EXPECT_THAT(complaint("conv/mb1ic64ih56ockh3"), HasSubstr("'ockh'"));
  EXPECT_THAT(complaint("conv/mb1mb2ic64ih56oc64kh3"), HasSubstr("'mb' stands twice"));
  EXPECT_THAT(complaint("conv/mb1ic64id5ih56oc64kh3"), HasSubstr("three dimensions"));
  EXPECT_THAT(complaint("conv/mb1ic64ih56oc64kh3sh2sw1"), HasSubstr("another stride"));
  EXPECT_THAT(complaint("conv/mb1ic64ih56oc64oh20kh3ph0"), HasSubstr("'oh' is 20, and 54 follows"));
}

}  // namespace
}  // namespace assay::descriptors_test
