import { BUSYBOX_IMAGE } from './node-images.ts'

export const EXAMPLE_POD = 'example'

/** The manifest of it. */
export const EXAMPLE_FILE = `${EXAMPLE_POD}.yaml`

/** The manifest that a new node begins with. */
export const examplePod = `# Written on the first start. Change it, remove it, or put other pods beside it: the agent follows.
apiVersion: v1
kind: Pod
metadata:
  name: ${EXAMPLE_POD}
spec:
  containers:
    - name: web
      image: ${BUSYBOX_IMAGE}
      imagePullPolicy: Never
      command:
        - sh
        - -c
        - |
          mkdir -p /www && echo "Hello from Deckhand" > /www/index.html
          echo "serving on port 8080"
          httpd -f -p 8080 -h /www &
          trap 'echo "asked to leave"; exit 0' TERM
          wait
      # Not ready before it answers, so that its address is shown when it can be used.
      startupProbe:
        httpGet:
          port: 8080
        periodSeconds: 1
        failureThreshold: 60
`
