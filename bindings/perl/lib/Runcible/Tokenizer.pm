package Runcible::Tokenizer;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Encode ();
use Runcible::Arguments qw(path tokenize_flags);
use Runcible::Report;

=head1 NAME

Runcible::Tokenizer - text to tokens and back

=for header rc_tokenizer

=head2 new(path)

=for header rc_tokenizer_open

=cut

sub new {
    my ($class, $path) = @_;
    return $class->of(Runcible::Native::tokenizer_open(path($path)));
}

=head2 tokenize(text, add_special => 1, parse_special => 0)

Returns a reference to an array of tokens. The text is a string of characters, or a
reference to a string of bytes.

=for header rc_tokenize

=cut

sub tokenize {
    my ($self, $text, %options) = @_;
    my $flags = tokenize_flags(@options{qw(add_special parse_special)});
    return Runcible::Native::tokenize($self->proxy, $text, $flags);
}

=head2 detokenize(tokens, special => 0)

Returns a string of characters; invalid UTF-8 becomes U+FFFD.

=for header rc_detokenize

=head2 detokenize_bytes(tokens, special => 0)

Returns the same as bytes.

=cut

sub detokenize {
    return Encode::decode('UTF-8', detokenize_bytes(@_));
}

sub detokenize_bytes {
    my ($self, $tokens, %options) = @_;
    return Runcible::Native::detokenize($self->proxy, $tokens,
        $options{special} ? 1 : 0);
}

# :api: methods rc_tokenizer

1;
