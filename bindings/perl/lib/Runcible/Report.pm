package Runcible::Report;

use strict;
use warnings;
use Runcible::Native;

=head1 NAME

Runcible::Report - what the library tells about devices, models and use

=head1 DESCRIPTION

Objects with a method for each of their members.

=head2 Runcible::Report::Device

C<kind> is "cpu", "discrete GPU", "integrated GPU", "accelerator", "software" or
"other".

=for header rc_device_report

=head2 Runcible::Report::Usage

=for header rc_backend_usage_report

=head2 Runcible::Report::Plan

C<devices> is a reference to an array of Runcible::Report::DevicePlan; the first is
that of the opened device, even if nothing fits there.

=for header rc_plan_report

=head2 Runcible::Report::DevicePlan

=for header rc_plan_device_report

=head2 Runcible::Report::Model

=for header rc_model_report

=head2 Runcible::Report::Tokenizer

=for header rc_tokenizer_report

=head2 Runcible::Report::Generation

C<reason> is "stop", "length", "stop string", "cancelled", "deadline", "context"
or "error".

=for header rc_generate_report

=cut

my %members = (
    Device => [qw(backend description index kind id name reason total_memory
        free_memory unified_memory cores features driver physical_id)],
    Usage => [qw(requests prompt_tokens cached_tokens generated_tokens compute_us
        memory peak_memory)],
    Plan => [qw(weights cache scratch total available fits context_length
        cache_tokens largest_context transfers devices)],
    DevicePlan => [qw(device weights cache scratch total available first_layer
        layers embedding output)],
    Model => [qw(architecture name device context_length trained_context_length
        vocabulary width layers parameters weight_bytes cache_bytes scratch_bytes
        cache_tokens page_size)],
    Tokenizer  => [qw(kind vocabulary bos eos unknown)],
    Generation => [qw(reason seed prompt_tokens cached_tokens generated_tokens
        queue_us prompt_us generate_us)],
);
for my $class (keys %members) {
    no strict 'refs';
    @{"Runcible::Report::${class}::ISA"} = ('Runcible::Report');
    for my $name (@{ $members{$class} }) {
        *{"Runcible::Report::${class}::$name"} = sub { $_[0]{$name} };
    }
}

my %kinds = (
    $Runcible::Native::DEVICE_OTHER          => 'other',
    $Runcible::Native::DEVICE_CPU            => 'cpu',
    $Runcible::Native::DEVICE_GPU_DISCRETE   => 'discrete GPU',
    $Runcible::Native::DEVICE_GPU_INTEGRATED => 'integrated GPU',
    $Runcible::Native::DEVICE_ACCELERATOR    => 'accelerator',
    $Runcible::Native::DEVICE_SOFTWARE       => 'software',
);

# An object of the members of a report of C, and those given.
sub copied {
    my (undef, $class, $kind, $report, %given) = @_;
    my %values = map {
        my $get = Runcible::Native->can("${kind}_${_}_get");
        exists $given{$_} ? () : ($_ => $get->($report))
    } @{ $members{$class} };
    return bless { %values, %given }, "Runcible::Report::$class";
}

sub device {
    my ($self, $report) = @_;
    my $kind = Runcible::Native::device_report_kind_get($report);
    return $self->copied('Device', 'device_report', $report,
        kind => $kinds{$kind} // 'other');
}

# Of the library's handle, whose devices are told one by one.
sub plan {
    my ($self, $proxy) = @_;
    my $report = Runcible::Native::new_plan_report();
    Runcible::Native::plan_describe($proxy, $report);
    my $count   = Runcible::Native::plan_report_device_count_get($report);
    my @devices = map {
        my $device = Runcible::Native::new_plan_device_report();
        Runcible::Native::plan_device($proxy, $_, $device);
        $self->copied('DevicePlan', 'plan_device_report', $device)
    } 0 .. $count - 1;
    return $self->copied('Plan', 'plan_report', $report, devices => \@devices);
}

# Of its numbers, in their order from `reason` on.
sub generation {
    my (undef, $numbers) = @_;
    my %values;
    @values{ @{ $members{Generation} } } = @$numbers;
    $values{reason} = Runcible::Native::end_reason_name($values{reason});
    return bless \%values, 'Runcible::Report::Generation';
}

1;
