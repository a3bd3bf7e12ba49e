package probe

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"h123.dev/subjects/go/peer"
)

// ask makes one request on a connection and judges the answer.
type ask func(ctx context.Context, on http.RoundTripper) error

// once makes a request on a connection of its own.
func (p *plan) once(one ask) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		c, err := p.dial(ctx, p.tls())
		if err != nil {
			return "", err
		}
		defer c.close()
		return "", one(ctx, c)
	}
}

// send makes a request and returns the answer, whose status must be the one wanted.
func send(ctx context.Context, on http.RoundTripper, method, path string, body io.Reader, size int64, status int) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "https://"+host+path, body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = size
	return answered(on, request, status)
}

func answered(on http.RoundTripper, request *http.Request, status int) (*http.Response, error) {
	request.Header.Set("User-Agent", "h123")
	response, err := on.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != status {
		_ = response.Body.Close()
		return nil, fmt.Errorf("status %d instead of %d", response.StatusCode, status)
	}
	return response, nil
}

// download asks for a body and holds it against the block.
func download(size int64) ask { return get(http.MethodGet, size) }

func get(method string, size int64) ask { return getWhen(method, size, atOnce) }

// atOnce is when nothing is to be waited for.
func atOnce(context.Context) error { return nil }

// getWhen asks for a body and reads it when, the header having come, it may.
func getWhen(method string, size int64, may func(context.Context) error) ask {
	return func(ctx context.Context, on http.RoundTripper) error {
		response, err := send(ctx, on, method, fmt.Sprint("/bytes/", size), nil, 0, http.StatusOK)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.ContentLength != size {
			return fmt.Errorf("content-length %d instead of %d", response.ContentLength, size)
		}
		if err := may(ctx); err != nil {
			return err
		}
		got, want := sha256.New(), sha256.New()
		count, err := io.Copy(got, response.Body)
		if err != nil {
			return fmt.Errorf("after %d bytes: %w", count, err)
		}
		if _, err := io.Copy(want, peer.Body(size)); err != nil {
			return err
		}
		if count != size || string(got.Sum(nil)) != string(want.Sum(nil)) {
			return fmt.Errorf("%d bytes that are not those of the contract's block", count)
		}
		return nil
	}
}

// upload sends a body, whose bytes the server must count.
func upload(size int64) ask { return uploadOf(size, func() io.Reader { return peer.Body(size) }) }

func uploadOf(size int64, body func() io.Reader) ask {
	return func(ctx context.Context, on http.RoundTripper) error {
		content := body()
		if size == 0 {
			content = http.NoBody // else the library cannot know that there is none
		}
		response, err := send(ctx, on, http.MethodPost, "/upload", content, size, http.StatusOK)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		return counted(io.LimitReader(response.Body, 100), size)
	}
}

// counted reads what the server says to have counted.
func counted(answer io.Reader, size int64) error {
	said, err := io.ReadAll(answer)
	if err != nil {
		return err
	}
	if string(said) != strconv.FormatInt(size, 10) {
		return fmt.Errorf("counted %.40q instead of %d", said, size)
	}
	return nil
}

// head asks for a header alone.
func head(size int64) ask {
	return func(ctx context.Context, on http.RoundTripper) error {
		response, err := send(ctx, on, http.MethodHead, fmt.Sprint("/bytes/", size), nil, 0, http.StatusOK)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.ContentLength != size {
			return fmt.Errorf("content-length %d instead of %d", response.ContentLength, size)
		}
		if count, err := io.Copy(io.Discard, response.Body); err != nil || count > 0 {
			return fmt.Errorf("%d bytes of a body, %v", count, err)
		}
		// What the library does not read of a body would be taken for the next answer.
		if err := download(1)(ctx, on); err != nil {
			return fmt.Errorf("the request after it: %w", err)
		}
		return nil
	}
}

func missing(ctx context.Context, on http.RoundTripper) error {
	return emptied(send(ctx, on, http.MethodGet, "/there-is-nothing-here", nil, 0, http.StatusNotFound))
}

func health(ctx context.Context, on http.RoundTripper) error {
	return emptied(send(ctx, on, http.MethodGet, "/health", nil, 0, http.StatusOK))
}

// uncompressed says that compression is welcome, as browsers do: a server that then compresses sends other bytes to
// some clients than to others.
func uncompressed(ctx context.Context, on http.RoundTripper) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/bytes/100000", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
	response, err := answered(on, request, http.StatusOK)
	if err := emptied(response, err); err != nil {
		return err
	}
	if coding := response.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return fmt.Errorf("a client that takes compressed answers is sent %q", coding)
	}
	return nil
}

// anyHost names the server by its address, as a client may that was given no other name.
func (p *plan) anyHost(ctx context.Context, on http.RoundTripper) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+p.endpoint()+"/bytes/1", nil)
	if err != nil {
		return err
	}
	return emptied(answered(on, request, http.StatusOK))
}

// emptied reads an answer to its end.
func emptied(response *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
