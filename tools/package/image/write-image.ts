import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

export type LayerCompression = 'gzip' | 'none'

interface ImageRequest {
  /** Full name with tag. */
  readonly name: string
  /** As OCI names it. */
  readonly architecture: string
  /** Plain tar archives, the lowest first. */
  readonly layers: readonly string[]
  /** "config" of the image's configuration: entry point, volumes … */
  readonly config: Readonly<Record<string, unknown>>
  readonly epoch: number
  /** A folder for files on the way. */
  readonly work: string
  readonly output: string
  /** "gzip" by default. */
  readonly compression?: LayerCompression
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

const TYPES = 'application/vnd.oci.image'

/** Writes an image as a tar of an OCI layout, which docker, podman, containerd and "deckhand images load" take. The same layers make the same bytes. */
export async function writeImage(request: ImageRequest): Promise<void> {
  const { name, architecture, layers, config, epoch, work, output, compression = 'gzip' } = request
  const layout = join(work, 'layout')
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
  const packed: { readonly layer: Descriptor; readonly diff: string }[] = []
  for (const file of layers)
    packed.push({ layer: await packLayer(file, layout, compression), diff: await digestOf(file) })
  const put = (mediaType: string, value: unknown): Descriptor => {
    const content = Buffer.from(JSON.stringify(value))
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
    writeFileSync(blobPath(layout, digest), content)
    return { mediaType, digest, size: content.length }
  }
  const configuration = put(`${TYPES}.config.v1+json`, {
    created: new Date(epoch * 1000).toISOString(),
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: packed.map(({ diff }) => diff) },
  })
  const manifest = put(`${TYPES}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${TYPES}.manifest.v1+json`,
    config: configuration,
    layers: packed.map(({ layer }) => layer),
  })
  // containerd takes the first annotation as the image's name, others read only the second.
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name }
  const manifests = [{ ...manifest, platform: { os: 'linux', architecture }, annotations }]
  const json: Readonly<Record<string, unknown>> = {
    'oci-layout': { imageLayoutVersion: '1.0.0' },
    'index.json': { schemaVersion: 2, mediaType: `${TYPES}.index.v1+json`, manifests },
    // What Docker reads before version 25.
    'manifest.json': [
      {
        Config: blobPath('', configuration.digest),
        RepoTags: [name],
        Layers: packed.map(({ layer }) => blobPath('', layer.digest)),
      },
    ],
  }
  for (const [file, value] of Object.entries(json)) writeFileSync(join(layout, file), JSON.stringify(value))
  const fixed = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  const names = ['oci-layout', 'index.json', 'manifest.json', 'blobs']
  execFileSync('tar', ['--format=ustar', ...fixed, '-cf', output, '-C', layout, ...names])
}

/** Under its digest. */
async function packLayer(file: string, layout: string, compression: LayerCompression): Promise<Descriptor> {
  const draft = join(layout, 'layer')
  if (compression === 'none') copyFileSync(file, draft)
  else await pipeline(createReadStream(file), createGzip({ level: 6 }), createWriteStream(draft))
  const digest = await digestOf(draft)
  const { size } = statSync(draft)
  renameSync(draft, blobPath(layout, digest))
  return { mediaType: `${TYPES}.layer.v1.tar${compression === 'none' ? '' : '+gzip'}`, digest, size }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return `sha256:${hash.digest('hex')}`
}

function blobPath(layout: string, digest: string): string {
  return join(layout, 'blobs/sha256', digest.replace('sha256:', ''))
}
