package Runcible::JSONText;

# Converts references of programs to JSON: schemas, tools, messages, choices.
use strict;
use warnings;
no warnings 'recursion';
use Exporter 'import';
use JSON::PP ();
use Scalar::Util qw(blessed reftype);
use Runcible::Error;

our @EXPORT_OK = qw(json_text option_text);

my $deepest_value = 200;
my $scalars       = JSON::PP->new->allow_nonref->allow_bignum;

# Returns the JSON of the argument `name`; a value that is not a reference is JSON
# already.
sub json_text {
    my ($value, $name) = @_;
    return ref $value ? _written($value, $name, 0) : $value;
}

# The same for an option; a schema alone is the format of an answer.
sub option_text {
    my ($value, $name) = @_;
    if ($name eq 'response_format' && blessed $value && $value->can('json_schema')) {
        my $schema = { name => 'answer', schema => $value };
        $value = { type => 'json_schema', json_schema => $schema };
    }
    return json_text($value, $name);
}

sub _refuse {
    my ($name, $what) = @_;
    Runcible::Error::InvalidArgument->throw("$name: $what");
}

sub _written {
    my ($value, $name, $depth) = @_;
    _refuse($name, "values nest more than $deepest_value deep, or are within themselves")
        if $depth > $deepest_value;
    if (blessed $value) {
        for my $method (qw(json_schema TO_JSON)) {
            return _written($value->$method, $name, $depth + 1) if $value->can($method);
        }
    }
    elsif (ref $value eq 'ARRAY') {
        return '[' . join(',', map { _written($_, $name, $depth + 1) } @$value) . ']';
    }
    elsif (ref $value eq 'HASH') {
        # A tied hash has an order of keys, other hashes have none.
        my @keys = tied %$value ? keys %$value : sort keys %$value;
        return '{' . join(',', map {
            $scalars->encode("$_") . ':' . _written($value->{$_}, $name, $depth + 1)
        } @keys) . '}';
    }
    my $text = eval { $scalars->encode($value) };
    return $text if defined $text && $text !~ /^[-+]?(?:nan|inf)/i;
    _refuse($name, "JSON has nothing for $value; give references to hashes and"
        . ' arrays, or JSON');
}

1;
