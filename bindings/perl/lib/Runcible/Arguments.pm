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

# What messages show of a value.
sub _shown { defined $_[0] ? "'$_[0]'" : 'undef' }

# The proxy of an argument of one of the library's classes.
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

# The library's own options of a kind, set from a hash; undef leaves the default.
# The keys must be the names of its members, or others, which the caller sets;
# members of other names are given with their values.
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

# Milliseconds of a time in seconds, which no limit ends before: rounded up, but for
# what a fraction is off in binary; at least 1, as 0 means none to the library.
sub milliseconds {
    my ($seconds, $name) = @_;
    return unless defined $seconds;
    looks_like_number($seconds) && $seconds >= 0 && $seconds <= 1e12
        or refuse("$name must be from 0 to 1e12 seconds, not " . _shown($seconds));
    my $whole = int ceil($seconds * 1000 - 1e-6);
    return $whole < 1 ? 1 : $whole;
}

# The number of a name.
sub choice {
    my ($choices, $value, $name) = @_;
    defined $value && exists $choices->{ lc $value }
        or refuse("$name must be one of " . join(', ', sort keys %$choices)
            . ', not ' . _shown($value));
    return $choices->{ lc $value };
}

# The constants whose names begin so, by the rest of their names in lower case.
sub constants {
    my ($prefix) = @_;
    no strict 'refs';
    return { map { (lc substr $_, length $prefix) => ${"Runcible::Native::$_"} }
            grep {/^$prefix/} keys %Runcible::Native:: };
}

my $dtypes = constants('DTYPE_');
my %dtype_names = reverse %$dtypes;

# Types of elements, by their names in lower case: "f32", "q4_k".
sub dtype_number { choice($dtypes, $_[0], $_[1] // 'dtype') }
sub dtype_name { $dtype_names{ $_[0] } // $_[0] }

# A path, as a reference to its bytes.
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
