package Runcible::Model;

use strict;
use warnings;
use parent 'Runcible::Handle';
use JSON::PP ();
use Runcible::Arguments qw(path refuse set_options);
use Runcible::Backend;
use Runcible::Report;
use Runcible::Session;
use Runcible::Tokenizer;

=head1 NAME

Runcible::Model - a model on a device

=for header rc_model

=head2 new(path, backend, options...)

The path may be "builtin:NAME", the backend a Runcible::Backend or what one is
opened by. The option C<progress> is a function that is told the fraction done;
if it dies the load ends, and dies so. A handler of a signal that dies ends it
too.

=for header rc_model_load

=for header rc_model_options

=cut

sub new {
    my ($class, $path, $backend, %options) = @_;
    my $progress = delete $options{progress} // sub { };
    ref $progress eq 'CODE' or refuse("progress must be a function, not $progress");
    my $made = $class->options(%options);
    $path    = path($path);
    $backend = Runcible::Backend->from($backend);
    return $class->of(
        Runcible::Native::load_model($backend->proxy, $path, $made, $progress),
        backend => $backend);
}

=head2 from_hub(source, backend, options...)

Fetches what is not here yet of a model on a hub, and loads it. The source is
"OWNER/NAME", "OWNER/NAME:FILE" or "OWNER/NAME:Q4_K_M", with or without "hf:"
before it; the options are those of C<new>, and C<revision> and C<cache>, a
folder.

=for header rc_model_fetch

=cut

sub from_hub {
    my ($class, $source, $backend, %options) = @_;
    my $revision = delete $options{revision} // '';
    my $cache    = path(delete $options{cache} // '');
    my $fetched  = Runcible::Native::model_fetch(
        $source =~ /^hf:/ ? $source : "hf:$source", $revision, $cache, path(''));
    utf8::encode($fetched) if utf8::is_utf8($fetched);
    return $class->new($fetched, $backend, %options);
}

# The library's own options.
sub options {
    my ($class, %options) = @_;
    return set_options('model_options', \%options);
}

=head2 backend

The backend that the model was loaded through.

=cut

sub backend { $_[0]{backend} }

# :api: methods rc_model

=head2 tokenizer

A Runcible::Tokenizer; Runcible::Error::Unsupported if the model has none.

=cut

sub tokenizer {
    my ($self) = @_;
    my $proxy = $self->proxy;
    return $self->{tokenizer}
        //= Runcible::Tokenizer->of(Runcible::Native::model_get_tokenizer($proxy));
}

=head2 tokenize(text, ...), detokenize(tokens, ...)

See L<Runcible::Tokenizer>.

=cut

sub tokenize   { my $self = shift; return $self->tokenizer->tokenize(@_) }
sub detokenize { my $self = shift; return $self->tokenizer->detokenize(@_) }

=head2 metadata

The metadata of the model's file, a reference to a hash of numbers, texts and
arrays.

=cut

sub metadata {
    my ($self) = @_;
    my $info = Runcible::Native::model_get_info($self->proxy);
    my $json = JSON::PP->new->allow_nonref;
    my %metadata;
    for my $i (0 .. Runcible::Native::model_info_metadata_count($info) - 1) {
        my ($key) = Runcible::Native::model_info_metadata($info, $i);
        $metadata{$key}
            = $json->decode(Runcible::Native::model_info_value($info, $key, 0));
    }
    return \%metadata;
}

=head2 session(options...)

An empty session, see L<Runcible::Session>.

=cut

sub session { my ($self, %options) = @_; return Runcible::Session->new($self, %options) }

1;
