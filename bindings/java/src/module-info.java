/** Language models in a Java program; begin with {@link runcible.Model}. */
module runcible {
  exports runcible;
}
