import { createHash } from 'node:crypto'
import { createTar } from './tar.ts'
import type { TarEntry } from './tar.ts'

/** An image of one layer, as it is to be made. */
export interface ImageSource {
  /** Full name with tag, such as "deckhand.local/pause:1". */
  readonly name: string
  readonly files: readonly TarEntry[]
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly environment?: readonly string[]
  readonly stopSignal?: string
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const

/** An image as blobs by their digests. */
interface PackedImage {
  readonly name: string
  readonly manifest: Descriptor
  readonly config: Descriptor
  readonly layer: Descriptor
  readonly blobs: ReadonlyMap<string, Uint8Array>
}

/** Makes the parts of an image; same input, same digests. */
export function packImage(image: ImageSource, architecture: string): PackedImage {
  const blobs = new Map<string, Uint8Array>()
  const put = (mediaType: string, content: Uint8Array): Descriptor => {
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
    blobs.set(digest, content)
    return { mediaType, digest, size: content.length }
  }
  const layer = put(mediaTypes.layer, createTar(image.files))
  const config = put(mediaTypes.config, toJson(createImageConfig(image, layer.digest, architecture)))
  const manifest = put(
    mediaTypes.manifest,
    toJson({ schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: [layer] }),
  )
  return { name: image.name, manifest, config, layer, blobs }
}

/** An OCI image archive (a tar of an image layout) that containerd, Docker, podman and others import; same input, same bytes. */
export function createOciArchive(sources: readonly ImageSource[], architecture: string): Buffer {
  const images = sources.map((source) => packImage(source, architecture))
  // What Docker reads before version 25, which knows no image layout.
  const legacy = images.map(({ name, config, layer }) => ({
    Config: blobPath(config.digest),
    RepoTags: [name],
    Layers: [blobPath(layer.digest)],
  }))
  const manifests = images.map(({ name, manifest }) => ({
    ...manifest,
    platform: { os: 'linux', architecture },
    // containerd takes the first annotation as the image's name, others read only the second.
    annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name },
  }))
  const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests }
  const blobs = new Map(images.flatMap((image) => [...image.blobs]))
  const file = (path: string, content: Uint8Array): TarEntry => ({ kind: 'file', path, content, mode: 0o644 })
  return createTar([
    file('oci-layout', toJson({ imageLayoutVersion: '1.0.0' })),
    file('index.json', toJson(index)),
    file('manifest.json', toJson(legacy)),
    ...[...blobs].map(([digest, content]) => file(blobPath(digest), content)),
  ])
}

function blobPath(digest: string): string {
  return `blobs/sha256/${digest.replace('sha256:', '')}`
}

function createImageConfig(image: ImageSource, diffId: string, architecture: string): unknown {
  return {
    created: '1970-01-01T00:00:00Z',
    os: 'linux',
    architecture,
    config: {
      Entrypoint: image.entrypoint,
      Cmd: image.command,
      Env: image.environment,
      StopSignal: image.stopSignal,
    },
    rootfs: { type: 'layers', diff_ids: [diffId] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'deckhand' }],
  }
}

function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
