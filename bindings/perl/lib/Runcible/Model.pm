package Runcible::Model;

use strict;
use warnings;
use parent 'Runcible::Handle';
use JSON::PP ();
use POSIX qw(ceil);
use Runcible::Arguments qw(path refuse set_options);
use Runcible::Backend;
use Runcible::Report;
use Runcible::Session;
use Runcible::Tokenizer;

=head1 NAME

Runcible::Model - a model on a device

=for header rc_model

=head2 new(path, backend, options...)

The path may be "builtin:NAME". The backend is a Runcible::Backend, or a string that
opens one. The option C<progress> is a function that receives the fraction done; if
it dies, the load ends and dies with its exception. A handler of a signal that dies
ends it too.

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

Fetches the missing files of a model on a hub, and loads it. The source is
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

# Makes options for the library.
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

Returns a Runcible::Tokenizer; throws Runcible::Error::Unsupported if the model has
none.

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

Returns the metadata of the model's file, a reference to a hash of numbers, texts and
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

=head2 embed(texts, options...)

Returns embeddings of the texts in an array: a reference to an array of rows, one for
each text, each a reference to an array of numbers. Options:

=over

=item pooling

"mean", "cls" or "last"; by default the value in the model's file

=item normalize

whether to scale rows to the length 1; by default the value in the model's file

=item dimensions

how many numbers of each row to keep, from the first on

=item truncate

whether to truncate texts that are too long

=item prompt, prompt_name

a text to put before each text; or the name of a prompt of the model, "query" or
"document"

=item priority

=item deadline

in seconds

=back

Models that generate text support it if they were loaded with
C<< output => 'hidden_rows' >>.

=head2 rerank(query, documents, options...)

Returns how well each document answers the query: a reference to an array of
probabilities, in the order of the documents. Options: C<raw_scores>, to return the
output of the model, a logit, as it is; C<truncate>, C<priority> and C<deadline> as for
C<embed>; C<prompt>, the question to a model that generates text, with {query} and
{document}. Such models must be loaded with C<< output => 'scores' >>.

=cut

my %poolings = (auto => 0, mean => 1, cls => 2, last => 3);

sub _texts {
    my ($texts, $what) = @_;
    ref $texts eq 'ARRAY' or refuse("$what must be a reference to an array");
    my $list = Runcible::Native::new_text_list();
    Runcible::Native::text_list_add($list, $_) for @$texts;
    return $list;
}

sub _no_rest {
    my (%rest) = @_;
    my ($name) = sort keys %rest;
    refuse("there is no option $name") if defined $name;
    return;
}

sub _milliseconds { return defined $_[0] ? ceil($_[0] * 1000) : 0 }

sub _rows {
    my ($embedding) = @_;
    Runcible::Native::embedding_wait($embedding, -1);
    my ($bytes, $rows, $columns) = Runcible::Native::embedding_rows($embedding);
    return [map { [unpack 'f*', substr $bytes, $_ * $columns * 4, $columns * 4] }
            0 .. $rows - 1];
}

sub embed {
    my ($self, $texts, %options) = @_;
    my $pooling   = delete $options{pooling} // 'auto';
    my $normalize = delete $options{normalize};
    my @rest      = delete @options{qw(dimensions truncate prompt prompt_name priority deadline)};
    _no_rest(%options);
    exists $poolings{$pooling} or refuse("pooling must be auto, mean, cls or last, not $pooling");
    return _rows(
        Runcible::Native::model_embed(
            $self->proxy, _texts($texts, 'texts'), $poolings{$pooling},
            defined $normalize ? ($normalize ? 1 : 0) : -1,
            $rest[0] // 0, $rest[1] ? 1 : 0, $rest[2], $rest[3], $rest[4] // 0,
            _milliseconds($rest[5])));
}

sub rerank {
    my ($self, $query, $documents, %options) = @_;
    my @rest = delete @options{qw(raw_scores truncate prompt priority deadline)};
    _no_rest(%options);
    my $rows = _rows(
        Runcible::Native::model_rerank(
            $self->proxy, $query, _texts($documents, 'documents'), $rest[0] ? 1 : 0,
            $rest[1] ? 1 : 0, $rest[2], $rest[3] // 0, _milliseconds($rest[4])));
    return [map { $_->[0] } @$rows];
}

=head2 session(options...)

Makes an empty session, see L<Runcible::Session>.

=cut

sub session { my ($self, %options) = @_; return Runcible::Session->new($self, %options) }

1;
