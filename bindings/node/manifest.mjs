// Prints the package.json of the tarball: that of the sources without the parts that
// only they need, for the machine that the binary was built on.
import { readFileSync } from "node:fs";

const { devDependencies, ...manifest } = JSON.parse(
  readFileSync(process.argv[2], "utf8"),
);
console.log(JSON.stringify({ ...manifest, cpu: [process.arch] }, null, 2));
