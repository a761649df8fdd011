import { readFile } from 'node:fs/promises'

/** Mount points in a folder, deepest first: the order in which they can be unmounted. */
export async function mountsBelow(folder: string): Promise<readonly string[]> {
  return parseMountsBelow(await readFile('/proc/self/mountinfo', 'utf8'), folder)
}

/** Reads the text of /proc/<pid>/mountinfo, in which blanks and the like are written in octal. */
export function parseMountsBelow(mountinfo: string, folder: string): readonly string[] {
  const points = mountinfo
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .map((point) =>
      point.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    )
    .filter((point) => point === folder || point.startsWith(`${folder}/`))
  // Later mounts may stand on earlier ones.
  return points.toReversed()
}
