/** One thing in a tar archive; everything belongs to root and to the epoch, so that equal content gives equal bytes. */
export type TarEntry =
  | { readonly kind: 'file'; readonly path: string; readonly content: Uint8Array; readonly mode: number }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }

const BLOCK = 512
const typeFlags = { file: '0', symlink: '2', folder: '5' } as const

/** A POSIX ustar archive of the entries, in their order. */
export function createTar(entries: readonly TarEntry[]): Buffer {
  const parts: Uint8Array[] = []
  for (const entry of entries) {
    const content = entry.kind === 'file' ? entry.content : new Uint8Array()
    parts.push(createHeader(entry, content.length), content, Buffer.alloc(padding(content.length)))
  }
  // Two empty blocks are the end mark.
  parts.push(Buffer.alloc(2 * BLOCK))
  return Buffer.concat(parts)
}

function createHeader(entry: TarEntry, size: number): Buffer {
  const header = Buffer.alloc(BLOCK)
  const text = (offset: number, width: number, value: string) => {
    if (Buffer.byteLength(value) > width) {
      throw new Error(`Cannot put "${value}" into a tar archive: expected at most ${width} bytes`)
    }
    header.write(value, offset, 'utf8')
  }
  const octal = (offset: number, width: number, value: number) => {
    text(offset, width - 1, value.toString(8).padStart(width - 1, '0'))
  }
  text(0, 100, entry.kind === 'folder' ? `${entry.path}/` : entry.path)
  octal(100, 8, entry.kind === 'symlink' ? 0o777 : entry.mode)
  octal(108, 8, 0)
  octal(116, 8, 0)
  octal(124, 12, size)
  octal(136, 12, 0)
  // The checksum is counted with blanks in its own place.
  text(148, 8, ' '.repeat(8))
  text(156, 1, typeFlags[entry.kind])
  if (entry.kind === 'symlink') text(157, 100, entry.target)
  text(257, 8, 'ustar\u000000')
  octal(
    148,
    7,
    header.reduce((sum, byte) => sum + byte, 0),
  )
  header[154] = 0
  return header
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK
}
