/// What the text of an option must be before anybody acts on it.
#pragma once

namespace CLI {
class Validator;
}

namespace assay {

/// A finite number from `least` to `most`. CLI11's own range lets nan through: it is neither below nor above.
CLI::Validator between(double least, double most);

/// Anything but nothing: an option that is given an empty text was meant to say something.
CLI::Validator not_empty();

}  // namespace assay
