package collection

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sheaf/collection/location"
	"sheaf/index/vfs"
	"sheaf/profile"
	"sheaf/search"
)

// CalibrationSchema is the format of a learned calibration. The index ignores files of other formats.
const CalibrationSchema = "sheaf.confidence/3"

// keptCalibration is a learned calibration in the form that Sheaf stores, without the members that only people read.
type keptCalibration struct {
	Schema string             `json:"schema"`
	Model  string             `json:"model"`
	Digest string             `json:"digest"`
	Fit    search.Calibration `json:"fit"`
}

// Calibration returns the calibration that was learned from this index. If that calibration does not fit the profile
// and the model of the index, Calibration returns the built-in one. If the built-in one does not fit either,
// Calibration returns nil. Each call reads the calibration again, because it may change while the index is open.
func (x *Index) Calibration(p *profile.Profile) *search.Calibration {
	view := x.Catalog.View()
	defer view.Close()
	return x.calibrationFor(p, view.Settings().Embedder)
}

// calibrationFor returns the calibration for vectors of the given model. The model of an index without vectors is "".
func (x *Index) calibrationFor(p *profile.Profile, model string) *search.Calibration {
	if kept := x.readCalibration(); kept != nil && kept.Digest == p.Digest() && kept.Model == model {
		return &kept.Fit
	}
	return search.ShippedCalibration(p, model)
}

func (x *Index) calibrationFile() string { return filepath.Join(x.Where.Dir, location.ConfidenceName) }

// readCalibration reads the learned calibration. If the file is missing or unusable, it returns nil.
func (x *Index) readCalibration() *keptCalibration {
	kept := &keptCalibration{}
	content, err := os.ReadFile(x.calibrationFile())
	if err != nil || json.Unmarshal(content, kept) != nil || kept.Schema != CalibrationSchema || !kept.Fit.Valid() {
		return nil
	}
	return kept
}

// KeepCalibration stores c, a learned calibration, as JSON. c must encode to an object with these members: schema
// ([CalibrationSchema]), model, digest and fit. KeepCalibration does not check this. If schema or fit is wrong,
// [Index.Calibration] ignores the stored calibration. Other members are only for people who read the file.
func (x *Index) KeepCalibration(c any) error {
	content, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return vfs.WriteFile(x.calibrationFile(), append(content, '\n'), 0)
}

// DropCalibration removes the learned calibration if it was learned for the profile with this digest and for this
// model. With the digest "", DropCalibration removes any learned calibration.
func (x *Index) DropCalibration(digest, model string) error {
	if kept := x.readCalibration(); digest != "" && (kept == nil || kept.Digest != digest || kept.Model != model) {
		return nil
	}
	if err := os.Remove(x.calibrationFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget confidence: %w", err)
	}
	return nil
}
