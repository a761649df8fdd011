import type { ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { isExecutable, listExecutableFolder, readExecutableFile } from '../../base/builtin/executable-files.ts'
import { listFolder, readBytes } from '../../system/files/files-and-folders.ts'
import { PAGE_HEADERS } from './page-headers.ts'

interface Asset {
  readonly type: string
  readonly plain: Buffer
  readonly packed: Buffer
}

/** The files of the page by their names. */
export type PageAssets = ReadonlyMap<string, Asset>

/** The page itself; the others have hashes in their names. */
const INDEX = 'index.html'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const PACKED = '.gz'

/** Reads what "npm run build" wrote; empty when it has not run. The executable has it in itself. */
export async function loadPageAssets(folder: string): Promise<PageAssets> {
  const names = isExecutable
    ? listExecutableFolder(folder)
    : await listFolder(folder).catch((): readonly string[] => [])
  const read = async (name: string) =>
    isExecutable ? readExecutableFile(join(folder, name)) : await readBytes(join(folder, name))
  const plain = names.filter((name) => names.includes(`${name}${PACKED}`))
  const assets = plain.map(async (name): Promise<[string, Asset]> => {
    const [bytes, packed] = await Promise.all([read(name), read(`${name}${PACKED}`)])
    return [name, { type: TYPES[extname(name)] ?? 'application/octet-stream', plain: bytes, packed }]
  })
  return new Map(await Promise.all(assets))
}

/** Sends a file of the page; false when there is none of this name. */
export function sendAsset(
  assets: PageAssets,
  { name = INDEX, accepts = '' }: { readonly name?: string; readonly accepts?: string | undefined },
  response: ServerResponse,
): boolean {
  const asset = assets.get(name)
  if (asset === undefined) return false
  const isPacked = /\bgzip\b/.test(accepts)
  const body = isPacked ? asset.packed : asset.plain
  response.writeHead(200, {
    ...PAGE_HEADERS,
    'content-type': asset.type,
    'content-length': body.length,
    vary: 'accept-encoding',
    'cache-control': name === INDEX ? 'no-cache' : 'public, max-age=31536000, immutable',
    ...(isPacked && { 'content-encoding': 'gzip' }),
  })
  response.end(body)
  return true
}
