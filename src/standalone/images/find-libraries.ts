import type { Clock } from '../../base/async/clock.ts'
import { readBytes } from '../../system/files/files-and-folders.ts'
import { runProcessOrThrow } from '../../system/processes/run-process.ts'

const DEADLINE_MS = 10_000
const ELF_MAGIC = '\u007FELF'
// The class (64 bits) and the order of bytes (little end first).
const LITTLE_ENDIAN_64 = 0x02_01
const INTERPRETER_SEGMENT = 3

/** The files that the kernel and the dynamic loader load with a program, by their absolute paths; none for a static program. */
export async function findLibraries(clock: Clock, program: string, signal: AbortSignal): Promise<readonly string[]> {
  const loader = readInterpreter(await readBytes(program))
  if (loader === undefined) return []
  const argv = [loader, '--list', program]
  const { stdout } = await runProcessOrThrow(clock, { argv, deadlineMs: DEADLINE_MS }, signal)
  return [...new Set([loader, ...parseLibraryList(stdout)])].toSorted()
}

/** The dynamic loader that an ELF program asks for; undefined for a static one, and for what is no 64-bit program. */
export function readInterpreter(program: Buffer): string | undefined {
  if (program.toString('latin1', 0, 4) !== ELF_MAGIC || program.readUInt16BE(4) !== LITTLE_ENDIAN_64) {
    return undefined
  }
  const table = Number(program.readBigUInt64LE(32))
  const size = program.readUInt16LE(54)
  const count = program.readUInt16LE(56)
  for (let header = table; header < table + count * size; header += size) {
    if (program.readUInt32LE(header) !== INTERPRETER_SEGMENT) continue
    const start = Number(program.readBigUInt64LE(header + 8))
    const length = Number(program.readBigUInt64LE(header + 32))
    return program.toString('utf8', start, start + length - 1)
  }
  return undefined
}

/** Lines such as "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)"; the kernel's own library is no file. */
export function parseLibraryList(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => /(?:^|\s)(\/\S+) \(0x[0-9a-f]+\)$/.exec(line)?.[1])
    .filter((path) => path !== undefined)
}
