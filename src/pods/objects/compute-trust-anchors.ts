import type { ClusterTrustBundleProjection } from '../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../model/pod/matching/matches-label-selector.ts'

/** What a node needs of a ClusterTrustBundle. */
export interface TrustBundle {
  readonly metadata?:
    | { readonly name?: string | undefined; readonly labels?: Readonly<Record<string, string>> | undefined }
    | undefined
  readonly spec?: { readonly signerName?: string | undefined; readonly trustBundle?: string | undefined }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g
const LINE = /.{1,64}/g

/**
 * The certificates of the bundles that a source names, each once, in PEM form; empty when there are none. In an order that says nothing, but
 * stays the same as long as the certificates do: a file that changes for no reason makes programs read it again.
 */
export function computeTrustAnchors(
  bundles: readonly TrustBundle[],
  { name, signerName, labelSelector }: Omit<ClusterTrustBundleProjection, 'path'>,
): string {
  const chosen = bundles.filter(({ metadata, spec }) =>
    name === undefined
      ? spec?.signerName === signerName && matchesLabelSelector(labelSelector, metadata?.labels ?? {})
      : metadata?.name === name,
  )
  const texts = chosen.flatMap(({ spec }) => [...(spec?.trustBundle ?? '').matchAll(CERTIFICATE)])
  const bodies = new Set(texts.map(([, body = '']) => body.replaceAll(/\s/g, '')))
  return [...bodies].sort().map(toPem).join('')
}

function toPem(body: string): string {
  const lines = body.match(LINE) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
