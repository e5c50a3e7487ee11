# frozen_string_literal: true

# Built into a gem by run.sh, in a folder with the library and the module for this
# Ruby in lib/runcible.
require_relative "lib/runcible/version"

Gem::Specification.new do |spec|
  spec.name = "runcible"
  spec.version = Runcible::VERSION
  spec.summary = "Language models, on this thread or under a Fiber scheduler"
  spec.authors = ["The Runcible authors"]
  spec.license = "MIT"
  spec.platform = Gem::Platform.local
  # The module fits the Rubies of one minor version.
  spec.required_ruby_version = "~> #{RbConfig::CONFIG["ruby_version"]}"
  spec.files = Dir.glob("{lib,examples}/**/*", base: __dir__)
                  .select { |path| File.file?(File.join(__dir__, path)) } +
               %w[README.md LICENSE]
  spec.extra_rdoc_files = ["README.md"]
  spec.rdoc_options = ["--main", "README.md"]
end
