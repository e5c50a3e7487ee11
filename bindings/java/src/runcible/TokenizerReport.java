package runcible;

/**
 * What a tokenizer is.
 *
 * @param kind {@rc rc_tokenizer_report.kind}
 * @param vocabulary the number of tokens
 * @param bos {@rc rc_tokenizer_report.bos}
 * @param eos -1: the model has none
 * @param unknown -1: the model has none
 */
public record TokenizerReport(
    String kind,
    int vocabulary,
    int bos,
    int eos,
    int unknown) {
  static TokenizerReport of(tokenizer_report report) {
    return new TokenizerReport(
        Text.decode(report.getKind()),
        report.getVocabulary(),
        report.getBos(),
        report.getEos(),
        report.getUnknown());
  }
}
