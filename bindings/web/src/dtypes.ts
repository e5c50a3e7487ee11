/** The name of a type of tensor elements in lower case: "f32", "q4_k". */
export type Dtype = string;
