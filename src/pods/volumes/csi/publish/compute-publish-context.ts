import type { Pod } from '../../../../model/pod/pod.ts'
import type { CsiVolume } from '../csi-volume.ts'

type Strings = Readonly<Record<string, string>>

const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens'

export interface PublishContextInput {
  readonly volume: CsiVolume
  readonly pod: Pod
  readonly podInfoOnMount: boolean
  /** Tokens of the pod's service account by audience, ready for the driver. */
  readonly tokens: ReadonlyMap<string, { readonly token: string; readonly expirationTimestamp: string }>
  readonly tokensInSecrets: boolean
  readonly secrets: Strings
}

/** What a driver gets to know about the volume and its pod when it publishes. */
export function computePublishContext(input: PublishContextInput): { volumeContext: Strings; secrets: Strings } {
  const { volume, pod, podInfoOnMount, tokens, tokensInSecrets } = input
  const tokenField = tokens.size === 0 ? {} : { [TOKENS]: formatTokens(tokens) }
  return {
    volumeContext: {
      ...volume.attributes,
      ...(podInfoOnMount && podInfo(pod, volume)),
      ...(!tokensInSecrets && tokenField),
    },
    secrets: { ...input.secrets, ...(tokensInSecrets && tokenField) },
  }
}

function podInfo({ metadata, spec }: Pod, { lifecycle }: CsiVolume): Strings {
  return {
    'csi.storage.k8s.io/pod.name': metadata.name,
    'csi.storage.k8s.io/pod.namespace': metadata.namespace,
    'csi.storage.k8s.io/pod.uid': metadata.uid,
    'csi.storage.k8s.io/serviceAccount.name': spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(lifecycle === 'Ephemeral'),
  }
}

function formatTokens(tokens: PublishContextInput['tokens']): string {
  return JSON.stringify(Object.fromEntries([...tokens].toSorted(([a], [b]) => (a < b ? -1 : 1))))
}
