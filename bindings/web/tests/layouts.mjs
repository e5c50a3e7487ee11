// Prints C that compiles only if structs have the layout that the package assumes:
//
//   node layouts.mjs DIST | clang --target=wasm32 -ffreestanding -fsyntax-only
//     -I include -x c -
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const url = pathToFileURL(resolve(process.argv[2], "layouts.js"));
const { layouts } = await import(url);

const lines = ["#include <runcible/runcible.h>"];
for (const [name, { size, members }] of Object.entries(layouts)) {
  const type = `rc_${name}`;
  lines.push(`_Static_assert(sizeof(${type}) == ${size}, "${name}");`);
  for (const [member, [at]] of Object.entries(members)) {
    const place = `offsetof(${type}, ${member}) == ${at}`;
    lines.push(`_Static_assert(${place}, "${name}.${member}");`);
  }
}
console.log(lines.join("\n"));
