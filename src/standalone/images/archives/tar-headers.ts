/** What the header of a tar entry says, as far as readers of archives need it. */
export interface TarHeader {
  readonly path: string
  readonly sizeBytes: number
  readonly isFile: boolean
}

/** Archives are made of blocks of this size. */
export const TAR_BLOCK = 512

/** Reads a header; undefined for the empty block of the end mark. Throws for a block that is none. */
export function parseTarHeader(block: Buffer): TarHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined
  // The checksum is counted with blanks in its own place.
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
  if (parseOctal(block.subarray(148, 156)) !== sum) throw new Error('it is not a tar archive')
  const [prefix, name] = [readText(block.subarray(345, 500)), readText(block.subarray(0, 100))]
  const isUstar = block.toString('latin1', 257, 263) === 'ustar\0'
  const type = block[156] ?? 0
  return {
    path: (isUstar && prefix !== '' ? `${prefix}/${name}` : name).replace(/^\.\//, ''),
    sizeBytes: parseSize(block.subarray(124, 136)),
    isFile: type === 0 || type === 0x30,
  }
}

/** How many bytes of an archive the content of an entry takes. */
export function paddedSize(sizeBytes: number): number {
  return Math.ceil(sizeBytes / TAR_BLOCK) * TAR_BLOCK
}

/** Eight gigabytes and more are written in binary, marked by the first bit. */
function parseSize(field: Buffer): number {
  if (((field[0] ?? 0) & 0x80) === 0) return parseOctal(field)
  return field.subarray(1).reduce((value, byte) => value * 256 + byte, 0)
}

function parseOctal(field: Buffer): number {
  const text = readText(field).trim()
  return text === '' ? 0 : Number.parseInt(text, 8)
}

function readText(field: Buffer): string {
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end === -1 ? field.length : end)
}
