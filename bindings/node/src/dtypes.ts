/** Types of elements, by their names in lower case: "f32", "q4_k". */
import { chosen, constants } from "./native";

/** The name of a type of tensor elements in lower case: "f32", "q4_k". */
export type Dtype = string;

const numbers = constants("DTYPE_");
const names = new Map([...numbers].map(([name, number]) => [number, name]));

export function dtypeNumber(name: Dtype): number {
  return chosen(numbers, "a dtype", name);
}

export function dtypeName(number: number): Dtype {
  return names.get(number) ?? String(number);
}
