package Runcible::Report;

use strict;
use warnings;
use Runcible::Members;
use Runcible::Native;

=head1 NAME

Runcible::Report - reports of the library about devices, models and use

=head1 DESCRIPTION

Objects with a method for each of their members.

# :api: report_pod

=cut

my %members = map { $_ => $Runcible::Members::reports{$_}{names} }
    keys %Runcible::Members::reports;
for my $class (keys %members) {
    no strict 'refs';
    @{"Runcible::Report::${class}::ISA"} = ('Runcible::Report');
    for my $name (@{ $members{$class} }) {
        *{"Runcible::Report::${class}::$name"} = sub { $_[0]{$name} };
    }
}

# Makes an object of the members of a report of C, and of those given.
sub copied {
    my (undef, $class, $report, %given) = @_;
    my $struct = $Runcible::Members::reports{$class}{struct};
    my %values = map {
        my $get = Runcible::Native->can("${struct}_${_}_get");
        exists $given{$_} ? () : ($_ => $get->($report))
    } @{ $members{$class} };
    $values{kind} = $Runcible::Members::kinds{ $values{kind} } // 'other'
        if $class eq 'Device';
    return bless { %values, %given }, "Runcible::Report::$class";
}

# Makes an object of the report that a function fills.
sub told {
    my ($self, $class, $fill) = @_;
    my $struct = $Runcible::Members::reports{$class}{struct};
    my $report = Runcible::Native->can("new_$struct")->();
    $fill->($report);
    return $self->copied($class, $report);
}

# Makes a plan from a handle of the library, which reports devices and offers one by one.
sub plan {
    my ($self, $proxy) = @_;
    my $report = Runcible::Native::new_plan_report();
    Runcible::Native::plan_describe($proxy, $report);
    my $count   = Runcible::Native::plan_report_device_count_get($report);
    my @devices = map {
        my $i = $_;
        $self->told('DevicePlan', sub { Runcible::Native::plan_device($proxy, $i, @_) })
    } 0 .. $count - 1;
    my $offered = Runcible::Native::plan_report_offer_count_get($report);
    my @offers  = map {
        my $i = $_;
        $self->told('PlanOffer', sub { Runcible::Native::plan_offer($proxy, $i, @_) })
    } 0 .. $offered - 1;
    return $self->copied('Plan', $report, devices => \@devices, offers => \@offers);
}

# Makes the report of a generation from its numbers, in their order from `reason` on.
sub generation {
    my (undef, $numbers) = @_;
    my %values;
    @values{ @{ $members{Generation} } } = @$numbers;
    $values{reason} = Runcible::Native::end_reason_name($values{reason});
    return bless \%values, 'Runcible::Report::Generation';
}

1;
