package runcible;

/**
 * What a model is.
 *
 * @param architecture {@rc rc_model_report.architecture}
 * @param name of the model
 * @param device {@rc rc_model_report.device}
 * @param contextLength {@rc rc_model_report.context_length}
 * @param trainedContextLength tokens
 * @param vocabulary tokens
 * @param width {@rc rc_model_report.width}
 * @param layers their number
 * @param parameters their number
 * @param weightBytes {@rc rc_model_report.weight_bytes}
 * @param cacheBytes bytes on the device
 * @param scratchBytes bytes on the device
 * @param cacheTokens that the KV cache holds
 * @param pageSize {@rc rc_model_report.page_size}
 */
public record ModelReport(
    String architecture,
    String name,
    String device,
    long contextLength,
    long trainedContextLength,
    long vocabulary,
    long width,
    long layers,
    long parameters,
    long weightBytes,
    long cacheBytes,
    long scratchBytes,
    long cacheTokens,
    long pageSize) {
  static ModelReport of(model_report report) {
    return new ModelReport(
        Text.decode(report.getArchitecture()),
        Text.decode(report.getName()),
        Text.decode(report.getDevice()),
        report.getContext_length(),
        report.getTrained_context_length(),
        report.getVocabulary(),
        report.getWidth(),
        report.getLayers(),
        report.getParameters(),
        report.getWeight_bytes(),
        report.getCache_bytes(),
        report.getScratch_bytes(),
        report.getCache_tokens(),
        report.getPage_size());
  }
}
