package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"

	"h123.dev/subjects/go/peer"
)

// project is whose bucket an emulator makes; it takes any.
const project = "h123"

// bodies declares the flags that say where the server keeps bodies.
func bodies(flags *flag.FlagSet) func(context.Context) (peer.Store, error) {
	kind := flags.String("store", "", "memory (made up and discarded) or gcs (objects of a bucket)")
	emulator := flags.String("emulator", "", "`address:port` of an emulator, whose bucket is made; empty for Google's "+
		"service, a bucket that exists, and application default credentials")
	bucket := flags.String("bucket", "", "`name` of the bucket")
	seed := flags.Int64("seed-bytes", 0, "size of the object that GET /bytes/<n> will ask for, 0 for none; it is "+
		"put into the bucket before anything is served")
	return func(ctx context.Context) (peer.Store, error) {
		switch *kind {
		case "memory":
			return nil, nil
		case "gcs":
			return openGCS(ctx, *emulator, *bucket, *seed)
		}
		return nil, fmt.Errorf("--store %s: it is memory or gcs", *kind)
	}
}

// gcs keeps bodies in a bucket of Google Cloud Storage, through Google's own client.
type gcs struct {
	bucket *storage.BucketHandle
	names  *names
}

func openGCS(ctx context.Context, emulator, bucket string, seed int64) (*gcs, error) {
	if emulator != "" {
		// How the client wants to be told; it has no option for it.
		if err := os.Setenv("STORAGE_EMULATOR_HOST", emulator); err != nil {
			return nil, err
		}
	}
	client, err := storage.NewClient(ctx)
	if err != nil {
		return nil, fmt.Errorf("no client of Google Cloud Storage: %w", err)
	}
	store := &gcs{client.Bucket(bucket), newNames(emulator != "")}
	if emulator != "" {
		if err := store.bucket.Create(ctx, project, nil); err != nil && !isConflict(err) {
			return nil, fmt.Errorf("cannot make the bucket %s on %s: %w", bucket, emulator, err)
		}
	}
	if seed > 0 {
		if _, err := store.put(ctx, sized(seed), peer.Body(seed)); err != nil {
			return nil, fmt.Errorf("cannot put an object of %d bytes into the bucket %s: %w", seed, bucket, err)
		}
	}
	return store, nil
}

// Upload keeps a body as an object. (peer.Store)
func (s *gcs) Upload(ctx context.Context, body io.Reader) (int64, error) {
	name := s.names.take()
	defer s.names.giveBack(name)
	return s.put(ctx, name, body)
}

// Download opens the object of count bytes. (peer.Store)
func (s *gcs) Download(ctx context.Context, count int64) (io.ReadCloser, error) {
	reader, err := s.bucket.Object(sized(count)).NewReader(ctx)
	if errors.Is(err, storage.ErrObjectNotExist) {
		return nil, fmt.Errorf("%w: %s", peer.ErrNoObject, sized(count))
	}
	if err != nil {
		return nil, err // a nil *storage.Reader must not become an io.ReadCloser that is not nil
	}
	return reader, nil
}

func (s *gcs) put(ctx context.Context, name string, body io.Reader) (int64, error) {
	// A writer sends what it has when it is closed, also half a body; only an ended context discards it.
	ctx, discard := context.WithCancel(ctx)
	defer discard()
	writer := s.bucket.Object(name).NewWriter(ctx)
	// One request that sends the body as it comes. The default collects 16 MiB of each upload in memory first.
	writer.ChunkSize = 0
	count, err := io.Copy(writer, body)
	if err != nil {
		discard()
		_ = writer.Close()
		return count, err
	}
	return count, writer.Close()
}

func sized(count int64) string { return fmt.Sprint("bytes/", count) }

func isConflict(err error) bool {
	refused, ok := errors.AsType[*googleapi.Error](err)
	return ok && refused.Code == http.StatusConflict
}
