package Runcible::Session;

use strict;
use warnings;
use parent 'Runcible::Handle';
use Runcible::Arguments qw(path proxy_of refuse set_options
    tokenize_flags);
use Runcible::Chat;
use Runcible::Generation;
use Runcible::Grammar;
use Scalar::Util 'weaken';

=head1 NAME

Runcible::Session - the state of one conversation

=for header session.h

=head2 new(model, options...)

=for header rc_session_create

=for header rc_session_options

=cut

# Makes a session with a list of its generations.
sub of {
    my ($class, $proxy, %more) = @_;
    return $class->SUPER::of($proxy, generations => [], %more);
}

sub new {
    my ($class, $model, %options) = @_;
    my $made  = $class->_options(%options);
    my $proxy = proxy_of($model, 'Runcible::Model', 'model');
    return $class->of(Runcible::Native::session_create($proxy, $made),
        model => $model);
}

sub _options {
    my ($class, %options) = @_;
    return set_options('session_options', \%options);
}

=head2 restore(model, path, options...)

Restores a saved session; the options are those of C<new>.

=for header rc_session_restore

=head2 restore_bytes(model, bytes, options...)

Restores a session from bytes.

=cut

sub restore {
    my ($class, $model, $path, %options) = @_;
    my $made = Runcible::Native::session_restore(
        proxy_of($model, 'Runcible::Model', 'model'),
        path($path), $class->_options(%options));
    return $class->of($made, model => $model);
}

sub restore_bytes {
    my ($class, $model, $bytes, %options) = @_;
    my $made = Runcible::Native::session_restore_memory(
        proxy_of($model, 'Runcible::Model', 'model'),
        $bytes, $class->_options(%options));
    return $class->of($made, model => $model);
}

=head2 model

The model of the session.

=cut

sub model { $_[0]{model} }

=head2 generate(prompt, options...)

Starts a generation, see L<Runcible::Generation>. The prompt is a string, a
reference to an array of tokens, or undef. C<stop> is a string or a reference to
several, C<logit_bias> a reference to a hash with tokens as keys, C<grammar> a
L<Runcible::Grammar>.

=for header rc_generate_options

=head2 stream(prompt, options...)

The same on an IO::Async event loop: the option C<loop>, by default
C<IO::Async::Loop-E<gt>new>; see L<Runcible::Stream>.

=cut

sub generate {
    my ($self, $prompt, %options) = @_;
    my $made       = _generate_options($prompt, %options);
    my $generation = Runcible::Generation->_start(
        Runcible::Native::request_start($self->_idle, $made));
    return _note($self->{generations}, $generation);
}

# Adds a generation to the list, without the ended ones.
sub _note {
    my ($generations, $generation) = @_;
    @$generations = ((grep { $_ && !$_->report } @$generations), $generation);
    weaken($_) for @$generations;
    return $generation;
}

# Ends the generations that were left.
sub _leave { $_->_end for grep { $_ && $_->_is_left } @{ $_[0] }; return }

# Returns the proxy for calls that must not run during a generation. A program that
# reads a generation and then uses its session otherwise has left the generation; a
# loop does not report that it was left.
sub _idle {
    my ($self) = @_;
    my $proxy = $self->proxy;
    _leave($self->{generations});
    return $proxy;
}

sub stream {
    my ($self, $prompt, %options) = @_;
    require Runcible::Stream;
    my $loop  = delete $options{loop};
    my $made  = _generate_options($prompt, %options);
    my $proxy = $self->_idle;
    return Runcible::Stream->_start($loop,
        sub { Runcible::Native::mailbox_generate($_[0], $proxy, $made, $_[1]) });
}

=head2 chat(options...)

Begins a conversation without messages over the session, a L<Runcible::Chat>, whose page
describes the options.

=cut

sub chat {
    my ($self, %options) = @_;
    my $made = Runcible::Chat::_options(%options);
    return Runcible::Chat->of(Runcible::Native::chat_create($self->_idle, $made),
        generations => $self->{generations});
}

sub _generate_options {
    my ($prompt, %options) = @_;
    my ($stop, $stop_tokens, $logit_bias)
        = @options{qw(stop stop_tokens logit_bias)};
    my $made = set_options(
        'generate_options', \%options,
        others  => [qw(add_special parse_special stop stop_tokens logit_bias grammar)],
        members => {
            tokenize_flags => tokenize_flags(@options{qw(add_special parse_special)}),
        },
    );
    if (ref $prompt eq 'ARRAY') {
        Runcible::Native::generate_options_set_prompt_tokens($made, $prompt);
    }
    elsif (defined $prompt) {
        Runcible::Native::generate_options_set_prompt($made, $prompt);
    }
    for my $text (ref $stop eq 'ARRAY' ? @$stop : $stop // ()) {
        defined $text && !ref $text
            or refuse('stop must be strings, not ' . ($text // 'undef'));
        Runcible::Native::generate_options_add_stop($made, $text);
    }
    Runcible::Native::generate_options_set_grammar($made,
        proxy_of($options{grammar}, 'Runcible::Grammar', 'grammar'))
        if defined $options{grammar};
    Runcible::Native::generate_options_set_stop_tokens($made, $stop_tokens)
        if defined $stop_tokens;
    ref($logit_bias // {}) eq 'HASH'
        or refuse("logit_bias must be a reference to a hash, not $logit_bias");
    for my $token (sort keys %{ $logit_bias // {} }) {
        Runcible::Native::generate_options_add_logit_bias($made, $token,
            $logit_bias->{$token});
    }
    return $made;
}

=head2 append(what, add_special => 1, parse_special => 0)

Appends a string, or a reference to an array of tokens. Returns the session.

=for header rc_session_append

=cut

sub append {
    my ($self, $what, %options) = @_;
    if (ref $what eq 'ARRAY') {
        Runcible::Native::session_append($self->_idle, $what);
    }
    else {
        my $flags = tokenize_flags(@options{qw(add_special parse_special)});
        Runcible::Native::session_append_text($self->_idle, $what, $flags);
    }
    return $self;
}

=head2 decode(all_logits => 0)

Returns the session.

=for header rc_session_decode

=cut

sub decode {
    my ($self, %options) = @_;
    my $flags = $options{all_logits} ? $Runcible::Native::DECODE_ALL_LOGITS : 0;
    Runcible::Native::session_decode($self->_idle, $flags);
    return $self;
}

=head2 logits

Returns the logits of the last decode: a reference to an array of rows, each a
reference to an array with a number for every token of the vocabulary. There is one
row, or with C<all_logits> one for each evaluated token. Throws
Runcible::Error::NotFound if there was no decode since the last change.

=head2 logits_bytes

Returns the same as (string of F32 numbers, rows, vocabulary).

=cut

sub logits {
    my ($self) = @_;
    my ($bytes, $rows, $columns) = $self->logits_bytes;
    return [map { [unpack 'f*', substr $bytes, $_ * $columns * 4, $columns * 4] }
            0 .. $rows - 1];
}

sub logits_bytes { Runcible::Native::session_logits($_[0]->_idle) }

# :api: methods rc_session

1;
