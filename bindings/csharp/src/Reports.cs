using System.Collections.Generic;
using Runcible.Native;

namespace Runcible {
  /// <summary>One device, or one backend that is not available.</summary>
  public sealed class DeviceReport {
    internal DeviceReport(device_report report) {
      Backend = report.backend;
      Description = report.description;
      Index = report.index;
      Kind = (DeviceKind)report.kind;
      Id = report.id;
      Name = report.name;
      Reason = report.reason;
      TotalMemory = (long)report.total_memory;
      FreeMemory = (long)report.free_memory;
      UnifiedMemory = report.unified_memory != 0;
      Cores = report.cores;
      Features = report.features;
      Driver = report.driver;
      PhysicalId = report.physical_id;
    }

    /// <summary>{@rc rc_device_report.backend}</summary>
    public string Backend { get; }

    /// <summary>{@rc rc_device_report.description}</summary>
    public string Description { get; }

    /// <summary>{@rc rc_device_report.index}</summary>
    public int Index { get; }

    /// <summary>What it is.</summary>
    public DeviceKind Kind { get; }

    /// <summary>{@rc rc_device_report.id}</summary>
    public string Id { get; }

    /// <summary>{@rc rc_device_report.name}</summary>
    public string Name { get; }

    /// <summary>{@rc rc_device_report.reason}</summary>
    public string Reason { get; }

    /// <summary>{@rc rc_device_report.total_memory}</summary>
    public long TotalMemory { get; }

    /// <summary>{@rc rc_device_report.free_memory}</summary>
    public long FreeMemory { get; }

    /// <summary>{@rc rc_device_report.unified_memory}</summary>
    public bool UnifiedMemory { get; }

    /// <summary>{@rc rc_device_report.cores}</summary>
    public int Cores { get; }

    /// <summary>{@rc rc_device_report.features}</summary>
    public string Features { get; }

    /// <summary>{@rc rc_device_report.driver}</summary>
    public string Driver { get; }

    /// <summary>{@rc rc_device_report.physical_id}</summary>
    public string PhysicalId { get; }
  }

  /// <summary>The devices and unavailable backends of this machine.</summary>
  public sealed class Discovery {
    internal Discovery(IReadOnlyList<DeviceReport> devices, string automatic) {
      Devices = devices;
      Automatic = automatic;
    }

    /// <summary>In order of preference within a backend.</summary>
    public IReadOnlyList<DeviceReport> Devices { get; }

    /// <summary>What "auto" would choose, "cpu:0"; "" if there is nothing to
    /// choose.</summary>
    public string Automatic { get; }
  }

  /// <summary>{@rc rc_plan_device_report}</summary>
  public sealed class DevicePlan {
    internal DevicePlan(plan_device_report report) {
      Device = report.device;
      Weights = (long)report.weights;
      Cache = (long)report.cache;
      Scratch = (long)report.scratch;
      Total = (long)report.total;
      Available = (long)report.available;
      FirstLayer = report.first_layer;
      Layers = report.layers;
      Embedding = report.embedding != 0;
      Output = report.output != 0;
    }

    /// <summary>Its id, "vulkan:0".</summary>
    public string Device { get; }

    /// <summary>Bytes.</summary>
    public long Weights { get; }

    /// <summary>Bytes.</summary>
    public long Cache { get; }

    /// <summary>Bytes of activations.</summary>
    public long Scratch { get; }

    /// <summary>Bytes.</summary>
    public long Total { get; }

    /// <summary>{@rc rc_plan_device_report.available}</summary>
    public long Available { get; }

    /// <summary>{@rc rc_plan_device_report.first_layer}</summary>
    public int FirstLayer { get; }

    /// <summary>{@rc rc_plan_device_report.layers}</summary>
    public int Layers { get; }

    /// <summary>{@rc rc_plan_device_report.embedding}</summary>
    public bool Embedding { get; }

    /// <summary>{@rc rc_plan_device_report.output}</summary>
    public bool Output { get; }
  }

  /// <summary>{@rc rc_plan_report}</summary>
  public sealed class Plan {
    internal Plan(plan_report report, IReadOnlyList<DevicePlan> devices) {
      Weights = (long)report.weights;
      Cache = (long)report.cache;
      Scratch = (long)report.scratch;
      Total = (long)report.total;
      Available = (long)report.available;
      Fits = report.fits != 0;
      ContextLength = report.context_length;
      CacheTokens = report.cache_tokens;
      LargestContext = report.largest_context;
      Transfers = (long)report.transfers;
      Devices = devices;
    }

    /// <summary>Bytes.</summary>
    public long Weights { get; }

    /// <summary>Bytes.</summary>
    public long Cache { get; }

    /// <summary>Bytes of activations.</summary>
    public long Scratch { get; }

    /// <summary>Bytes.</summary>
    public long Total { get; }

    /// <summary>{@rc rc_plan_report.available}</summary>
    public long Available { get; }

    /// <summary>{@rc rc_plan_report.fits}</summary>
    public bool Fits { get; }

    /// <summary>{@rc rc_plan_report.context_length}</summary>
    public long ContextLength { get; }

    /// <summary>That the KV cache would hold.</summary>
    public long CacheTokens { get; }

    /// <summary>{@rc rc_plan_report.largest_context}</summary>
    public long LargestContext { get; }

    /// <summary>{@rc rc_plan_report.transfers}</summary>
    public long Transfers { get; }

    /// <summary>What each device would hold.</summary>
    public IReadOnlyList<DevicePlan> Devices { get; }
  }

  /// <summary>What a model is.</summary>
  public sealed class ModelReport {
    internal ModelReport(model_report report) {
      Architecture = report.architecture;
      Name = report.name;
      Device = report.device;
      ContextLength = report.context_length;
      TrainedContextLength = report.trained_context_length;
      Vocabulary = report.vocabulary;
      Width = report.width;
      Layers = report.layers;
      Parameters = (long)report.parameters;
      WeightBytes = (long)report.weight_bytes;
      CacheBytes = (long)report.cache_bytes;
      ScratchBytes = (long)report.scratch_bytes;
      CacheTokens = report.cache_tokens;
      PageSize = report.page_size;
    }

    /// <summary>{@rc rc_model_report.architecture}</summary>
    public string Architecture { get; }

    /// <summary>Of the model.</summary>
    public string Name { get; }

    /// <summary>{@rc rc_model_report.device}</summary>
    public string Device { get; }

    /// <summary>{@rc rc_model_report.context_length}</summary>
    public long ContextLength { get; }

    /// <summary>Tokens.</summary>
    public long TrainedContextLength { get; }

    /// <summary>The number of tokens.</summary>
    public long Vocabulary { get; }

    /// <summary>{@rc rc_model_report.width}</summary>
    public long Width { get; }

    /// <summary>Their number.</summary>
    public long Layers { get; }

    /// <summary>Their number.</summary>
    public long Parameters { get; }

    /// <summary>{@rc rc_model_report.weight_bytes}</summary>
    public long WeightBytes { get; }

    /// <summary>Bytes on the device.</summary>
    public long CacheBytes { get; }

    /// <summary>Bytes on the device.</summary>
    public long ScratchBytes { get; }

    /// <summary>That the KV cache holds.</summary>
    public long CacheTokens { get; }

    /// <summary>{@rc rc_model_report.page_size}</summary>
    public long PageSize { get; }
  }

  /// <summary>What a tokenizer is.</summary>
  public sealed class TokenizerReport {
    internal TokenizerReport(tokenizer_report report) {
      Kind = report.kind;
      Vocabulary = report.vocabulary;
      Bos = report.bos;
      Eos = report.eos;
      Unknown = report.unknown;
    }

    /// <summary>{@rc rc_tokenizer_report.kind}</summary>
    public string Kind { get; }

    /// <summary>The number of tokens.</summary>
    public int Vocabulary { get; }

    /// <summary>{@rc rc_tokenizer_report.bos}</summary>
    public int Bos { get; }

    /// <summary>-1: the model has none.</summary>
    public int Eos { get; }

    /// <summary>-1: the model has none.</summary>
    public int Unknown { get; }
  }

  /// <summary>{@rc rc_backend_usage_report}</summary>
  public sealed class Usage {
    internal Usage(backend_usage_report report) {
      Requests = (long)report.requests;
      PromptTokens = (long)report.prompt_tokens;
      CachedTokens = (long)report.cached_tokens;
      GeneratedTokens = (long)report.generated_tokens;
      ComputeUs = (long)report.compute_us;
      Memory = (long)report.memory;
      PeakMemory = (long)report.peak_memory;
    }

    /// <summary>{@rc rc_backend_usage_report.requests}</summary>
    public long Requests { get; }

    /// <summary>{@rc rc_backend_usage_report.prompt_tokens}</summary>
    public long PromptTokens { get; }

    /// <summary>{@rc rc_backend_usage_report.cached_tokens}</summary>
    public long CachedTokens { get; }

    /// <summary>Tokens.</summary>
    public long GeneratedTokens { get; }

    /// <summary>{@rc rc_backend_usage_report.compute_us}</summary>
    public long ComputeUs { get; }

    /// <summary>{@rc rc_backend_usage_report.memory}</summary>
    public long Memory { get; }

    /// <summary>{@rc rc_backend_usage_report.peak_memory}</summary>
    public long PeakMemory { get; }
  }
}
