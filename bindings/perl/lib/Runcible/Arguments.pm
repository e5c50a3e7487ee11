package Runcible::Arguments;

# Arguments and options, for the other modules here.
use strict;
use warnings;
use Exporter 'import';
use POSIX qw(ceil);
use Scalar::Util qw(blessed looks_like_number);
use Runcible::Error;
use Runcible::JSONText qw(option_text);
use Runcible::Members;
use Runcible::Native;

our @EXPORT_OK = qw(choice constants dtype_name dtype_number
    optional_proxy_of path proxy_of refuse set_options tokenize_flags);

sub refuse { Runcible::Error::InvalidArgument->throw(@_) }

# Returns a value as messages show it.
sub _shown { defined $_[0] ? "'$_[0]'" : 'undef' }

# Returns the proxy of an argument of one of the library's classes.
sub proxy_of {
    my ($value, $class, $name) = @_;
    return $value->proxy if blessed $value && $value->isa($class);
    refuse("$name must be a $class, not " . _shown($value));
}

# The same, or undef.
sub optional_proxy_of {
    my ($value, $class, $name) = @_;
    return defined $value ? proxy_of($value, $class, $name) : undef;
}

# Makes options of a kind for the library, set from a hash; undef leaves the default.
# The keys must be the names of members, or be in `others`, which the caller sets.
# `members` has the values of members with other names.
sub set_options {
    my ($kind, $values, %given) = @_;
    my %others  = map { $_ => 1 } @{ $given{others} // [] };
    my %known   = (%others, map { $_ => 1 } @{ $Runcible::Members::options{$kind}{names} });
    my %members = %{ $given{members} // {} };
    for my $name (sort keys %$values) {
        exists $known{$name}
            or refuse("there is no option '$name', but " . join ', ', sort keys %known);
        $members{$name} = $values->{$name} unless $others{$name};
    }
    my $options = Runcible::Native->can("new_$kind")->();
    defined $members{$_} && _set_member($options, $kind, $_, $members{$_})
        for sort keys %members;
    return $options;
}

sub _set_member {
    my ($options, $kind, $name, $value) = @_;
    my $members = $Runcible::Members::options{$kind};
    my $member  = $members->{times}{$name};
    if (grep { $_ eq $name } @{ $members->{pairs} }) {
        ref $value eq 'ARRAY' && @$value == 2
            or refuse("$name must be a reference to two numbers, not $value");
        return Runcible::Native->can("${kind}_set_$name")->($options, @$value);
    }
    $value = option_text($value, $name) if grep { $_ eq $name } @{ $members->{jsons} };
    $value = $value ? 1 : 0 if grep { $_ eq $name } @{ $members->{flags} };
    $value = milliseconds($value, $name) if defined $member;
    my $prefix = $members->{choices}{$name};
    $value = choice(constants($prefix), $value, $name) if defined $prefix;
    $member //= $name;
    return Runcible::Native->can("${kind}_${member}_set")->($options, $value);
}

# Converts seconds to milliseconds. Rounds up, so that no limit ends before its time,
# except for the rounding error of a binary fraction. Returns at least 1, as 0 means no
# limit to the library.
sub milliseconds {
    my ($seconds, $name) = @_;
    return unless defined $seconds;
    looks_like_number($seconds) && $seconds >= 0 && $seconds <= 1e12
        or refuse("$name must be from 0 to 1e12 seconds, not " . _shown($seconds));
    my $whole = int ceil($seconds * 1000 - 1e-6);
    return $whole < 1 ? 1 : $whole;
}

# Returns the number of a name.
sub choice {
    my ($choices, $value, $name) = @_;
    defined $value && exists $choices->{ lc $value }
        or refuse("$name must be one of " . join(', ', sort keys %$choices)
            . ', not ' . _shown($value));
    return $choices->{ lc $value };
}

# Returns the constants whose names begin with a prefix, by the rest of their names in
# lower case.
sub constants {
    my ($prefix) = @_;
    no strict 'refs';
    return { map { (lc substr $_, length $prefix) => ${"Runcible::Native::$_"} }
            grep {/^$prefix/} keys %Runcible::Native:: };
}

my $dtypes = constants('DTYPE_');
my %dtype_names = reverse %$dtypes;

# Convert types of elements from and to their names in lower case: "f32", "q4_k".
sub dtype_number { choice($dtypes, $_[0], $_[1] // 'dtype') }
sub dtype_name { $dtype_names{ $_[0] } // $_[0] }

# Returns a reference to the bytes of a path.
sub path {
    my ($path) = @_;
    defined $path && (!ref $path || blessed $path)
        or refuse('a path must be a string, not ' . _shown($path));
    my $bytes = "$path";
    utf8::encode($bytes) if utf8::is_utf8($bytes);
    return \$bytes;
}

sub tokenize_flags {
    my ($add_special, $parse_special) = @_;
    return ($add_special // 1 ? $Runcible::Native::TOKENIZE_ADD_SPECIAL : 0)
        | ($parse_special ? $Runcible::Native::TOKENIZE_PARSE_SPECIAL : 0);
}

1;
